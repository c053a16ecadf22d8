"""The style sheet of reports: for a desk, a phone and paper."""

from __future__ import annotations

from zwang._report.figures import DARK_STYLE

STYLE = """
:root{--ink:#24292f;--quiet:#5b6670;--line:#d8dee4;--pale:#f4f6f8;--blue:#0072b2;--alarm:#b34700;--good:#00694d;
--paper:#fff;--good-bg:#e3f1ec;--alarm-bg:#fbe9dd;--open-bg:#eceff2;--mend:#7a5200;--mend-bg:#fff3cd;--own:#4b3f8f;
--own-bg:#ebe8f7;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--quiet:#a3adb7;--line:#3a424a;--pale:#22282e;--blue:#6cb6e6;
--alarm:#ffa873;--good:#6fd3b0;--paper:#171b1f;--good-bg:#17352c;--alarm-bg:#3d2415;--open-bg:#2a3036;--mend:#f0c75e;
--mend-bg:#3a2f10;--own:#b9aef0;--own-bg:#2a2545}
svg{DARK_STYLE}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;color:var(--ink);background:var(--paper);
font:17px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
"DejaVu Sans",sans-serif}
main,header,footer{max-width:62rem;margin:0 auto;padding:0 1.2rem}
header{padding-top:2.4rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .6rem}
h2{font-size:1.45rem;line-height:1.25;margin:3rem 0 .6rem;padding-top:.4rem}
h3{font-size:1.15rem;margin:0;line-height:1.3}
h4{font-size:1rem;margin:1.2rem 0 .3rem;color:var(--quiet);font-weight:600}
p{margin:.5rem 0 .8rem;max-width:46rem}
a{color:var(--blue)}
.lead{font-size:1.12rem}
.quiet,.source,footer{color:var(--quiet)}
.source{font-size:.9rem;margin:.15rem 0 .8rem}
.wide{overflow-x:auto;max-width:100%;margin:.3rem 0 .8rem}
table{border-collapse:collapse;font-size:.92rem}
th,td{text-align:left;vertical-align:baseline;padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--line)}
th{color:var(--quiet);font-weight:600;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td code{white-space:nowrap}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",Consolas,monospace;font-size:.88em}
pre{background:var(--pale);padding:.8rem 1rem;overflow-x:auto;border-radius:4px;line-height:1.4}
math{font-family:"STIX Two Math","Cambria Math","Latin Modern Math",math;font-size:1.06em;math-style:normal}
.formulas td{vertical-align:middle;white-space:nowrap}
.formulas td:first-child{color:var(--quiet);font-size:.92em;white-space:normal;min-width:7rem}
mtd{padding:.2em .5em}
figure{margin:1rem 0}
.chapter>figure>svg,.chapter>figure>img,article>figure>svg,article>figure>img{width:min(100%,44rem)!important}
figcaption{font-size:.9rem;color:var(--quiet);max-width:46rem;margin-top:.3rem}
svg,img{display:block;max-width:100%;height:auto}
.side{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start}
.side>*{min-width:0;flex:0 1 auto}
.side figcaption{width:0;min-width:100%}
article{border-top:1px solid var(--line);margin-top:2rem;padding-top:1.4rem}
.question{border-left:4px solid var(--blue);padding-left:1rem;font-size:1.12rem}
.answer{border-left:4px solid var(--good);padding-left:1rem}
.status{display:inline-block;font-size:.82rem;font-weight:600;padding:.05rem .5rem;border-radius:999px;
background:var(--good-bg);color:var(--good);white-space:nowrap}
.status.alarm{background:var(--alarm-bg);color:var(--alarm)}
.status.open{background:var(--open-bg);color:var(--quiet)}
.status.mend{background:var(--mend-bg);color:var(--mend)}
.status.own{background:var(--own-bg);color:var(--own)}
.place{margin:0 0 .2rem;font-size:.92rem;color:var(--quiet)}
.place code{margin-left:.4rem}
.statement{font-size:1.05rem;margin:.2rem 0 .5rem}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1rem;margin:.3rem 0 .6rem;
max-width:54rem}
.facts dt{color:var(--quiet);font-size:.92rem}
.facts dd{margin:0;overflow-wrap:anywhere}
.plain{list-style:none;padding:0;margin:.4rem 0 1rem}
.plain li{margin:.25rem 0}
.warning{border-left:4px solid var(--alarm);padding-left:1rem}
.chapter>h3{margin-top:2.2rem}
.chapter article{margin-top:1.4rem;padding-top:1rem}
summary{cursor:pointer;color:var(--quiet)}
details{margin:.4rem 0}
footer{padding-top:2rem;padding-bottom:3rem;font-size:.9rem}
.stay{position:sticky;top:0;z-index:5;display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;align-items:center;
padding:.35rem 1.2rem;background:var(--paper);border-bottom:1px solid var(--line);font-size:.9rem}
.stay a{margin-right:.6rem}
.filter{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem .5rem;align-items:center}
.filter legend{float:left;padding:0 .4rem 0 0;color:var(--quiet)}
.filter input{position:absolute;opacity:0;pointer-events:none}
.filter span{display:inline-block;padding:.05rem .55rem;border:1px solid var(--line);border-radius:999px;cursor:pointer}
.filter input:checked+span{background:var(--blue);border-color:var(--blue);color:var(--paper)}
.filter input:focus-visible+span{outline:2px solid var(--blue);outline-offset:2px}
[id]{scroll-margin-top:4.2rem}
body:has(#show-confirmed:checked) article:not(.verdict-confirmed),
body:has(#show-corrected:checked) article:not(.verdict-corrected),
body:has(#show-refuted:checked) article:not(.verdict-refuted),
body:has(#show-added:checked) article:not(.verdict-added),
body:has(#show-not-checkable:checked) article:not(.verdict-not-checkable){display:none}
@media (max-width:40rem){
body{font-size:16px}h1{font-size:1.6rem}header{padding-top:1.4rem}main,header,footer{padding-left:.9rem;padding-right:.9rem}
th,td{padding-right:.7rem}
.facts{grid-template-columns:minmax(0,1fr);gap:0 1rem}.facts dd{margin:0 0 .5rem}
.place code{display:block;margin:0}
.facts math,.statement math,figcaption math{max-width:100%;overflow-x:auto}
}
@media print{
.stay{display:none}
body{font-size:10.5pt}main,header,footer{max-width:none;padding:0}a{color:inherit;text-decoration:none}
figure,tr,dd{break-inside:avoid}h2,h3,h4{break-after:avoid}.wide{overflow:visible}
pre{white-space:pre-wrap}details::details-content{content-visibility:visible;block-size:auto}
}
""".replace("DARK_STYLE", DARK_STYLE)
