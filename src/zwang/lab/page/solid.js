// Mechanisms in space as solids, with three.js, which is loaded for them alone. Drawn only when something has changed.

const SOFTWARE = /swiftshader|llvmpipe|software/i;

const smooth = () => { // edges are smoothed where a graphics card does it
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) return null;
  const told = probe.getExtension("WEBGL_debug_renderer_info");
  const name = told ? String(probe.getParameter(told.UNMASKED_RENDERER_WEBGL)) : "";
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  return !SOFTWARE.test(name);
};

// Returns null where the browser has no WebGL: the picture of lines stays then.
export const solidLayer = (three, canvas) => {
  const fine = three ? smooth() : null;
  if (fine === null) return null;
  let renderer;
  try { renderer = new three.WebGLRenderer({ canvas, antialias: fine, alpha: true }); } catch { return null; }
  const camera = new three.OrthographicCamera(), stage = new three.Scene();
  const sky = new three.HemisphereLight(0xffffff, 0x8090a0, 2.2), sun = new three.DirectionalLight(0xffffff, 1.6);
  stage.add(sky, sun);
  const along = new three.Vector3(), upright = new three.Vector3(0, 1, 0);
  let shown = null, parts = null;

  const clear = () => {
    if (!parts) return;
    stage.remove(parts.group);
    parts.group.traverse((item) => { item.geometry?.dispose(); item.material?.dispose(); });
    parts = null;
  };

  // Triangles of solids, and of flat bodies, which are polygons through points.
  const triangles = (scene) => [...scene.faces, ...scene.bodies.filter((body) => body.corners).flatMap(({ corners }) => corners.slice(2).map((k, i) => [corners[0], corners[i + 1], k]))];

  const build = (scene, colours, thick) => {
    clear();
    const group = new three.Group();
    const matt = (colour) => new three.MeshLambertMaterial({ color: new three.Color(colour) });
    const rod = (radius, colour) => { const item = new three.Mesh(new three.CylinderGeometry(radius, radius, 1, 12), matt(colour)); group.add(item); return item; };
    const ball = (radius, colour) => { const item = new three.Mesh(new three.SphereGeometry(radius, 32, 20), matt(colour)); group.add(item); return item; };
    const line = (count, colour) => {
      const geometry = new three.BufferGeometry();
      geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * count), 3));
      const item = new three.LineSegments(geometry, new three.LineBasicMaterial({ color: new three.Color(colour) }));
      item.frustumCulled = false;
      group.add(item);
      return item;
    };
    const bars = (scene.wires || scene.bars).map(() => rod(thick, colours.accent));
    const joints = scene.joints.map((k) => ball(1.35 * thick, scene.ground.includes(k) ? colours.quiet : colours.ink));
    const bodies = scene.bodies.map((body) => (body.outline ? ball(Math.hypot(...body.outline[0]), colours.accent) : null));
    const springs = scene.springs.map(() => line(34, colours.quiet));
    const guides = scene.outlines.map((places) => {
      const item = line(2 * (places.length - 1), colours.quiet);
      fill(item, places.slice(1).flatMap((place, i) => [places[i], place]));
      return item;
    });
    let hull = null;
    const all = triangles(scene);
    if (all.length) {
      const geometry = new three.BufferGeometry();
      geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(9 * all.length), 3));
      hull = new three.Mesh(geometry, new three.MeshLambertMaterial({ color: new three.Color(colours.accent), side: three.DoubleSide }));
      hull.frustumCulled = false;
      group.add(hull);
    }
    const corners = new Set(scene.faces.flat()), edges = [...scene.bars.filter(([a, b]) => corners.has(a) && corners.has(b)), ...scene.bodies.filter((body) => body.corners).flatMap(({ corners: ring }) => ring.map((k, i) => [k, ring[(i + 1) % ring.length]]))];
    parts = { group, all, bars, joints, bodies, springs, guides, hull, edges, outlines: edges.length ? line(2 * edges.length, colours.ink) : null };
    stage.add(group);
  };

  const fill = (item, places) => {
    const array = item.geometry.attributes.position.array;
    places.forEach((place, i) => array.set(place, 3 * i));
    item.geometry.attributes.position.needsUpdate = true;
  };

  const put = (scene, places, bodiesAt) => {
    (scene.wires || scene.bars).forEach(([a, b], i) => {
      const [p, q] = [places[a], places[b]], item = parts.bars[i];
      along.set(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
      const length = along.length();
      item.visible = length > 0;
      item.position.set((p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2);
      if (length > 0) item.quaternion.setFromUnitVectors(upright, along.divideScalar(length));
      item.scale.set(1, Math.max(length, 1e-9), 1);
    });
    scene.joints.forEach((k, i) => parts.joints[i].position.set(...places[k]));
    parts.bodies.forEach((item, i) => { if (item) item.position.set(...(bodiesAt ? bodiesAt[i] : scene.bodies[i].at).slice(0, 3)); });
    scene.springs.forEach(([a, b], i) => fill(parts.springs[i], coil(places[a], places[b])));
    if (parts.hull) {
      fill(parts.hull, parts.all.flat().map((k) => places[k]));
      parts.hull.geometry.computeVertexNormals();
    }
    if (parts.outlines) fill(parts.outlines, parts.edges.flat().map((k) => places[k]));
  };

  // A spring as a zigzag in some plane through its ends.
  const coil = (a, b) => {
    const way = [0, 1, 2].map((k) => b[k] - a[k]), size = Math.hypot(...way) || 1;
    const side = Math.abs(way[2]) < 0.9 * size ? [-way[1], way[0], 0] : [way[2], 0, -way[0]], wide = 0.06 * size / (Math.hypot(...side) || 1);
    const points = [a, ...Array.from({ length: 16 }, (_, i) => [0, 1, 2].map((k) => a[k] + (0.2 + 0.6 * i / 15) * way[k] + (i % 2 ? wide : -wide) * side[k])), b];
    return points.slice(1).flatMap((point, i) => [points[i], point]);
  };

  return {
    paint(frame, scene, { places = scene.places, bodiesAt = null, colours }) {
      const thick = 2.2 / frame.scale;
      const made = JSON.stringify([scene.names, scene.bars, scene.springs, scene.faces, scene.bodies.map((body) => body.corners || body.outline[0]), scene.outlines, colours, thick.toPrecision(1)]);
      if (made !== shown) { build(scene, colours, thick); shown = made; }
      put(scene, places, bodiesAt);
      const [w, h] = [frame.width / 2 / frame.scale, frame.height / 2 / frame.scale], far = 20 * frame.reach + w + h;
      Object.assign(camera, { left: -w, right: w, top: h, bottom: -h, near: 0, far: 2 * far });
      camera.up.set(0, 0, 1);
      camera.position.set(...[0, 1, 2].map((k) => frame.middle[k] + far * frame.toward[k]));
      camera.lookAt(...frame.middle);
      camera.updateProjectionMatrix();
      sun.position.set(...[0, 1, 2].map((k) => frame.toward[k] + 0.6 * frame.up[k] - 0.3 * frame.right[k]));
      const ratio = Math.min(devicePixelRatio || 1, 2);
      renderer.setPixelRatio(ratio);
      renderer.setSize(frame.width, frame.height, false);
      renderer.render(stage, camera);
    },
    end() { clear(); renderer.dispose(); },
  };
};
