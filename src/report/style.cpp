#include "report/parts.h"

namespace tandem::report {

using namespace app;

// Series colours keep apart on white and on black, and for most colour-blind eyes.
const char* const kReportStyle = R"css(
:root{--page:#f6f7f9;--card:#fff;--ink:#1c2127;--soft:#5d6873;--line:#dfe4e9;--grid:#e9edf1;--accent:#2a6fbf;
--hot:#c2452d;--cold:#2f6fb4;--bad:#b3261e;--good:#1f7a4d}
@media(prefers-color-scheme:dark){:root{--page:#13171c;--card:#1b2027;--ink:#e6eaee;--soft:#9aa6b2;--line:#303842;
--grid:#29303a;--accent:#6fb1f5;--hot:#e8705a;--cold:#5b9fe6;--bad:#f2877f;--good:#63c595}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 20px}
header{padding-top:28px}
h1{font-size:28px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:20px;margin:0 0 10px}
h3{font-size:15px;margin:18px 0 6px}
.sub{color:var(--soft);margin:0;overflow-wrap:anywhere}section .sub{font-size:13.5px;margin:8px 0 0;max-width:80ch}
.state{display:inline-block;border:1px solid var(--line);border-radius:99px;padding:1px 10px;margin-right:6px;
color:var(--ink);background:var(--card)}
.grade{padding:.1em .5em;border-radius:.3em;white-space:nowrap}
.grade.high{background:#b3261e;color:#fff}
.grade.medium{background:#e8b64c;color:#000}
.grade.low{opacity:.65}
.state.finished{color:var(--good)}.state.failed{color:var(--bad)}
nav{margin:14px 0 18px;font-size:14px;line-height:1.9}
nav a{color:var(--accent);text-decoration:none;margin-right:14px;white-space:nowrap}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;margin:0 0 18px}
section>p{max-width:76ch;margin:6px 0}
.none{color:var(--soft);font-style:italic}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:14px}
.fact{border-left:3px solid var(--line);padding:2px 0 2px 12px;min-width:0}
.fact.best{border-color:var(--accent)}.fact.best .value{font-size:30px;line-height:1.15;color:var(--accent)}
.fact .label{color:var(--soft);font-size:13px}
.fact .value{font-size:22px;font-weight:600;line-height:1.3;overflow-wrap:anywhere}
.fact small{font-size:14px;font-weight:400;color:var(--soft)}
.fact .about{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:4px 0}
dt{color:var(--soft)}dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:6px 32px;margin-top:8px}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:16px 24px}
.figures.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,290px),1fr))}
figure{margin:6px 0;min-width:0;break-inside:avoid}
figcaption{color:var(--soft);font-size:13.5px;max-width:80ch}
.plot svg{display:block;width:100%;height:auto}
.wide .plot{overflow-x:auto}
.wide svg{min-width:680px}
svg text{font-size:12px;fill:var(--soft);font-family:inherit}
svg .name{fill:var(--ink)}svg .note{font-size:11.5px;fill:var(--ink)}
svg .inbar{font-size:11px;fill:#fff;pointer-events:none}
.grid{stroke:var(--grid);fill:none}.axis{stroke:var(--soft);fill:none}
.level{stroke:var(--good);stroke-dasharray:5 4;fill:none}
.line{fill:none;stroke:var(--c,var(--accent));stroke-width:2;stroke-linejoin:round}
.line.thin{stroke-width:1;opacity:.7}
.dot{fill:var(--c,var(--accent))}
.dot.faint{opacity:.42}.dot.ring{fill:none;stroke:var(--c,var(--accent));stroke-width:1.6}
.dot.star{stroke:var(--ink);stroke-width:1.8}
.bar{fill:var(--c,var(--accent));stroke:var(--card);stroke-width:.7}.bar.start{opacity:.35}.bar.chosen{stroke:var(--ink);stroke-width:1.5}
.cross{stroke:var(--bad);stroke-width:2.4;fill:none}
.lane{fill:var(--grid);opacity:.6}
.hot{fill:var(--hot)}.cold{fill:var(--cold)}
.hatch{fill:url(#hatch)}.dots{fill:url(#dots)}.rows{fill:url(#rows)}
.c0{--c:#4a7fc1}.c1{--c:#e08a2e}.c2{--c:#4fa05f}.c3{--c:#c9514f}.c4{--c:#8d6bbd}.c5{--c:#a07a4b}.c6{--c:#d276b0}
.c7{--c:#7b858f}.c8{--c:#a3a531}.c9{--c:#35a8b5}
.key{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13.5px;color:var(--soft);margin:2px 0 8px}
.key span{white-space:nowrap}
.key i{display:inline-block;width:12px;height:12px;border-radius:3px;background:var(--c,var(--line));
margin-right:6px;vertical-align:-1px}
.key svg{width:22px;height:12px;margin-right:6px;vertical-align:-1px}
.bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:6px 12px;align-items:center;max-width:760px;
font-size:15px}
.bars .track{background:var(--grid);border-radius:4px;height:16px}
.bars .track div{background:var(--accent);border-radius:4px;height:16px}
.bars .rest div{background:var(--soft);opacity:.45}
.scroll{margin-top:8px;overflow:auto;max-height:70vh;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;font-size:14px;width:100%}
th,td{padding:5px 10px;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
th{position:sticky;top:0;background:var(--card);cursor:pointer;user-select:none}
th[aria-sort]::after{content:" \25be";color:var(--soft)}th[aria-sort=ascending]::after{content:" \25b4"}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
tr.chosen td{font-weight:600;color:var(--accent)}
pre{overflow:auto;background:var(--page);border:1px solid var(--line);border-radius:8px;padding:8px 10px;
font-size:13px;max-height:18em;white-space:pre-wrap;overflow-wrap:anywhere}
footer{color:var(--soft);font-size:13.5px;padding-bottom:36px;overflow-wrap:anywhere}
#tip{position:fixed;display:none;pointer-events:none;z-index:9;max-width:min(340px,90vw);background:var(--ink);
color:var(--page);font-size:13px;line-height:1.4;padding:6px 10px;border-radius:6px;white-space:pre-line;
overflow-wrap:anywhere}
@media(max-width:640px){main,header,footer{padding:0 12px}section{padding:14px 12px}header{padding-top:18px}
.fact .value{font-size:19px}.facts{grid-template-columns:1fr 1fr;gap:12px}.bars{font-size:13.5px;gap:6px 8px}}
@media print{:root{--page:#fff;--card:#fff;--ink:#111;--soft:#444;--line:#ccc;--grid:#e6e6e6}body{font-size:11pt}
nav,#tip{display:none}section{border:0;padding:0;margin:0 0 14pt}h2{break-after:avoid}.scroll{overflow:visible;
max-height:none;border:0}table{font-size:8.5pt}th{position:static}th,td{padding:2px 5px;white-space:normal}
.wide svg{min-width:0!important}.figures{grid-template-columns:1fr 1fr}.figures.small{grid-template-columns:1fr 1fr 1fr}
.key{break-after:avoid}td:last-child{min-width:9em}}
)css";

// Tooltips for what carries data-t, and tables sorted by a click on a heading. Words go in as text only.
const char* const kReportScript = R"js(
(()=>{const tip=document.createElement('div');tip.id='tip';document.body.append(tip);
const show=e=>{const at=e.target.closest&&e.target.closest('[data-t]');if(!at){tip.style.display='none';return}
tip.textContent=at.dataset.t;tip.style.display='block';const box=tip.getBoundingClientRect();
tip.style.left=Math.max(8,Math.min(e.clientX+14,innerWidth-box.width-8))+'px';
tip.style.top=(e.clientY+18+box.height>innerHeight?e.clientY-box.height-10:e.clientY+18)+'px'};
addEventListener('pointermove',show);addEventListener('click',show);
for(const head of document.querySelectorAll('th'))head.addEventListener('click',()=>{
const body=head.closest('table').tBodies[0],column=head.cellIndex;
const up=head.getAttribute('aria-sort')!=='ascending';
for(const other of head.parentNode.cells)other.removeAttribute('aria-sort');
head.setAttribute('aria-sort',up?'ascending':'descending');
const key=row=>{const cell=row.cells[column];return cell.dataset.v===undefined?cell.textContent:+cell.dataset.v};
const order=(a,b)=>{const x=key(a),y=key(b);
if(typeof x!==typeof y)return typeof x==='number'?-1:1;
return(typeof x==='number'?x-y:x.localeCompare(y))*(up?1:-1)};
body.append(...[...body.rows].sort(order))})})()
)js";

}  // namespace tandem::report
