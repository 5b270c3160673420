-- SPDX-License-Identifier: Apache-2.0
--- The style sheet of report.html: light and dark by the reader's preference.
return [[
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2330;--dim:#5b6573;--rule:#d6dbe2;--panel:#f5f7fa;
--baseline:#1f66c1;--candidate:#c2590c;--warmup:#f0ebdf;--window:#e6ecf4;--margin:#dfe8d8;
--good:#1d7a3c;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e4e8ee;--dim:#9aa5b4;--rule:#323b47;
--panel:#1a2028;--baseline:#6ea8f0;--candidate:#f0a060;--warmup:#2a261c;--window:#283444;
--margin:#24342a;--good:#67c587;--bad:#f28b82}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:24px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:26px;margin:0 0 12px}h2{font-size:20px;margin:40px 0 10px;border-bottom:1px solid
var(--rule);padding-bottom:4px}h3{font-size:16px;margin:28px 0 6px}
p{margin:6px 0 10px;max-width:80ch}.note{color:var(--dim);font-size:13px}
blockquote{margin:6px 0 12px;padding:2px 12px;border-left:4px solid var(--rule);max-width:90ch;
overflow-wrap:anywhere}
ul{margin:6px 0 12px;padding-left:22px;max-width:90ch}li{margin:3px 0}
li,summary{overflow-wrap:anywhere}td,th{overflow-wrap:break-word}
.first{background:var(--panel);border-left:4px solid var(--baseline);padding:8px 16px;
margin:0 0 8px}
nav a{margin-right:16px}a{color:var(--baseline)}
.scroll{overflow-x:auto;margin:8px 0 16px}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;min-width:100%}
caption{text-align:left;color:var(--dim);padding:4px 0}
th,td{padding:5px 7px;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top;
min-width:64px;max-width:340px}
thead th{color:var(--dim);font-weight:600;border-bottom:2px solid var(--rule)}
.word{font-weight:600}.improved,.success,.equivalent{color:var(--good)}
.regressed,.failed{color:var(--bad)}
figure{margin:10px 0 18px;padding:10px 12px;background:var(--panel);border-radius:6px}
figcaption{font-weight:600;margin-bottom:4px}
figcaption .word{margin-left:14px;font-weight:400}
svg{display:block;width:100%;height:auto;overflow:visible}
text{fill:var(--dim);font:12px system-ui,sans-serif}
path{fill:none}.axis{stroke:var(--dim)}.grid{stroke:var(--rule)}
.line{stroke-width:1.5;stroke-opacity:.75;stroke-linejoin:round}
.baseline{--c:var(--baseline)}.candidate{--c:var(--candidate)}
.line,.median{stroke:var(--c)}.median{stroke-width:3}
.dot{fill:var(--c);fill-opacity:.65}.bar,.request{fill:var(--c);fill-opacity:.7}
.bad,.stall{fill:var(--bad)}.escaped{fill:var(--bad);fill-opacity:.7}
.escape{fill:none;stroke:var(--bad);stroke-width:2}
.warmup{fill:var(--warmup)}.window{fill:var(--window)}.margin{fill:var(--margin)}
.interval{stroke:var(--fg);stroke-width:3}.shift{fill:var(--fg)}
.key span{display:inline-block;margin-right:18px}
.key .baseline:before,.key .candidate:before{content:"";display:inline-block;width:22px;height:4px;
margin-right:6px;vertical-align:middle;background:var(--c)}
details{margin:8px 0;padding:6px 12px;background:var(--panel);border-radius:6px}
summary{cursor:pointer;font-weight:600}
:focus-visible{outline:2px solid var(--baseline);outline-offset:2px}
.controls fieldset{border:1px solid var(--rule);border-radius:6px;margin:8px 0;padding:6px 12px}
.controls label{display:inline-block;margin-right:14px;white-space:nowrap}
.live>svg{display:none}.plot{position:relative;width:100%;height:220px}
.readout{min-height:20px;font-size:13px;color:var(--dim);text-align:right;
font-variant-numeric:tabular-nums}
.dygraph-axis-label{color:var(--dim);font-size:12px;overflow:hidden;line-height:normal}
.dygraph-axis-label-x{text-align:center}.dygraph-axis-label-y{text-align:right}
.dygraph-label{color:var(--dim);font-size:12px;text-align:center}
@media (max-width:700px){body{padding:12px}
figure,details{overflow-x:auto}svg{min-width:660px}}
@media print{.controls{display:none}figure,details{break-inside:avoid}}
]]
