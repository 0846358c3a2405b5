/** Colours and layout of the page and of figures as files. No script, no font from elsewhere, no request. */

const LIGHT =
  '--bg:#fcfcfa;--card:#fff;--ink:#1d1f21;--soft:#5a6068;--line:#dcdcd6;--zero:#8b9098;--accent:#1f5f99;--solved:#1f7a4d;--failed:#a8442f;--alert:#8a4b00;--warn:#fff3d6';
const DARK =
  '--bg:#15171a;--card:#1c1f23;--ink:#e8e8e4;--soft:#a2a8b0;--line:#363b42;--zero:#7b828b;--accent:#7db7ec;--solved:#5cc08f;--failed:#e58a73;--alert:#e6b566;--warn:#3a3016';

const COLOURS = `:root{color-scheme:light dark;${LIGHT}}@media (prefers-color-scheme:dark){:root{${DARK}}}`;

const FIGURES = [
  'text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}',
  'text.soft{fill:var(--soft);font-size:11px}',
  'text.strong{font-weight:600}',
  'text.alert{fill:var(--alert);font-size:11px}',
  'text.halo{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}',
  '.grid{stroke:var(--line);stroke-width:1}',
  '.zero{stroke:var(--zero);stroke-width:1;stroke-dasharray:3 3}',
  '.interval{stroke:var(--accent);stroke-width:2}',
  '.join{stroke:var(--soft);stroke-width:1.5}',
  '.mark{fill:var(--accent);stroke:var(--accent);stroke-width:1.5}',
  '.hollow{fill:var(--card)}',
  '.solved{fill:var(--solved);stroke:var(--solved)}',
  '.failed{fill:none;stroke:var(--failed)}',
  '.cross{stroke:var(--failed);stroke-width:1.2}',
  '.absent{fill:var(--soft)}',
].join('');

const PAGE = [
  '*{box-sizing:border-box}',
  'body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}',
  'main{max-width:1080px;margin:0 auto;padding:24px 16px 64px}',
  'h1{font-size:1.6rem;line-height:1.25;margin:0 0 12px}',
  'h2{font-size:1.2rem;margin:40px 0 12px;padding-top:12px;border-top:1px solid var(--line)}',
  'h3{font-size:1rem;margin:28px 0 8px}',
  'p{margin:8px 0;max-width:72ch}',
  'nav{font-size:.9rem;margin:12px 0}nav a{color:var(--accent);margin-right:14px;white-space:nowrap}',
  '.warning{background:var(--warn);border-left:4px solid var(--alert);padding:10px 14px;font-weight:600;max-width:none}',
  'dl{display:grid;grid-template-columns:minmax(7.5rem,max-content) 1fr;gap:4px 16px;margin:8px 0}',
  'dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;font-variant-ligatures:none}',
  '.verdict{font-weight:600}',
  '.wide{overflow-x:auto;margin:8px 0}',
  'table{border-collapse:collapse;font-size:.875rem}',
  'th,td{text-align:left;vertical-align:top;padding:5px 14px 5px 0;border-bottom:1px solid var(--line)}',
  'th{color:var(--soft);font-weight:600}',
  'th{white-space:nowrap}',
  'td{font-variant-numeric:tabular-nums;white-space:nowrap}td.long{white-space:normal;min-width:16rem}',
  'figure{margin:16px 0;padding:12px;background:var(--card);border:1px solid var(--line);border-radius:6px;max-width:520px}',
  'figure svg{display:block;width:100%;min-width:300px;height:auto}figcaption b{color:var(--ink)}figcaption{color:var(--soft);font-size:.875rem;margin-bottom:8px}',
  'li{margin:4px 0;max-width:72ch}',
  'footer{margin-top:40px;color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}',
  '@media (max-width:560px){body{font-size:15px}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}figure{padding:8px}th,td{padding-right:10px}td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:5.5rem}}',
  '@media print{body{background:#fff}nav{display:none}.wide{overflow:visible}}',
].join('');

export const PAGE_STYLE = COLOURS + PAGE + FIGURES;
export const FIGURE_STYLE = COLOURS + FIGURES;
