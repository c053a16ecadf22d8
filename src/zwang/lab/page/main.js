// The systems of the gallery, from the file of the first view.
const view = await (await fetch("first_view.json")).json();
document.querySelector("#systems").append(...view.systems.map((item) => {
  const line = document.createElement("li");
  line.textContent = `${item.name}: ${item.title}`;
  return line;
}));
