/**
 * The widget's look. Every color and measure is a custom property that the page may set on the element;
 * light or dark follows the page's `color-scheme`. Directions are logical, for right-to-left pages.
 */
const CSS = `
:host {
  --text: var(--relay-text, light-dark(#1b1f24, #eceff3));
  --muted: var(--relay-muted, light-dark(#57606b, #a9b2bd));
  --surface: var(--relay-surface, light-dark(#ffffff, #17191d));
  --field: var(--relay-field, light-dark(#f3f5f7, #22262c));
  --border: var(--relay-border, light-dark(#d5dae0, #3a4049));
  --accent: var(--relay-accent, light-dark(#2456d3, #93b4ff));
  --on-accent: var(--relay-on-accent, light-dark(#ffffff, #0e1524));
  --good: var(--relay-good, light-dark(#18794a, #56d190));
  --warn: var(--relay-warn, light-dark(#8f5400, #f2b65c));
  --bad: var(--relay-bad, light-dark(#b3241b, #ff9d94));
  --radius: var(--relay-radius, 0.75rem);
  --space: var(--relay-space, 1rem);
  display: block;
  color: var(--text);
  font: 0.9375rem/1.45 var(--relay-font, system-ui, sans-serif);
}
:host([hidden]), [hidden] { display: none !important; }
*, *::before { box-sizing: border-box; }
p, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
.panel {
  container-type: inline-size;
  overflow: clip;
  background: var(--surface);
  border: 1px solid var(--border);
  border-radius: var(--radius);
}
.status, .section, .said { padding: var(--space); }
.section { border-block-start: 1px solid var(--border); }
.status { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.75rem; }
.text { flex: 1 1 9rem; min-inline-size: 0; overflow-wrap: anywhere; }
.status .text { display: grid; gap: 0.125rem; }
.dot {
  flex: none;
  inline-size: 0.625rem;
  block-size: 0.625rem;
  margin-block-start: 0.45rem;
  border: 2px solid var(--muted);
  border-radius: 50%;
}
[data-tone="good"] .dot { background: var(--good); border-color: var(--good); }
[data-tone="warn"] .dot { background: var(--warn); border-color: var(--warn); }
[data-tone="bad"] .dot { background: var(--bad); border-color: var(--bad); }
[data-tone="busy"] .dot { border-color: var(--accent); animation: pulse 1.2s ease-in-out infinite; }
@keyframes pulse { 50% { opacity: 0.25; } }
@media (prefers-reduced-motion: reduce) { .dot { animation: none !important; } }
.state { display: block; font-size: 1.0625rem; font-weight: 600; line-height: 1.4; }
.detail, .note { color: var(--muted); }
.detail { overflow-wrap: anywhere; }
.countdown { font-variant-numeric: tabular-nums; }
.heading { margin-block-end: 0.625rem; font-size: 0.9375rem; font-weight: 600; }
.note { font-size: 0.875rem; overflow-wrap: anywhere; }
.section > .buttons ~ .note { margin-block-start: 0.625rem; }
.warning { margin-block-end: 0.75rem; color: var(--warn); }
.field {
  display: block;
  padding: 0.5rem 0.625rem;
  background: var(--field);
  border-radius: calc(var(--radius) / 2);
  font: 0.8125rem/1.5 ui-monospace, monospace;
  text-align: start;
  overflow-wrap: anywhere;
}
.section > .field { margin-block-end: 0.625rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; }
button, .button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  min-block-size: 2.25rem;
  padding: 0.25rem 0.75rem;
  color: var(--text);
  background: transparent;
  border: 1px solid var(--border);
  border-radius: calc(var(--radius) / 2);
  font: inherit;
  font-size: 0.875rem;
  font-weight: 500;
  text-align: center;
  text-decoration: none;
  overflow-wrap: anywhere;
  cursor: pointer;
}
button:hover, .button:hover { background: var(--field); }
button.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
button.primary:hover { background: color-mix(in srgb, var(--accent), var(--text) 15%); }
button.danger { color: var(--bad); }
button[aria-disabled="true"] { color: var(--muted); cursor: default; opacity: 0.65; }
button[aria-disabled="true"]:hover { background: transparent; }
button[aria-busy="true"] { cursor: progress; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.qr { margin-block-start: 0.75rem; }
.qr svg {
  display: block;
  inline-size: min(100%, 13rem);
  background: #ffffff;
  fill: #000000;
  border-radius: calc(var(--radius) / 2);
  forced-color-adjust: none;
}
.host { padding-block: 0.625rem; border-block-start: 1px solid var(--border); }
.host:first-child { padding-block-start: 0; border-block-start: 0; }
.host:last-child { padding-block-end: 0; }
.host > .note, .host > .field { margin-block-start: 0.375rem; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
.host .name { font-weight: 500; }
.badge { margin-inline-start: 0.5rem; color: var(--muted); font-size: 0.8125rem; }
.call {
  display: grid;
  grid-template-columns: 1fr auto auto;
  gap: 0 0.75rem;
  align-items: baseline;
  padding-block: 0.25rem;
}
.call .name {
  min-inline-size: 0;
  font: 0.8125rem/1.5 ui-monospace, monospace;
 
  overflow-wrap: anywhere;
}
.outcome { font-size: 0.875rem; }
[data-status="done"] .outcome { color: var(--good); }
:is([data-status="failed"], [data-status="lost"]) .outcome { color: var(--bad); }
:is([data-status="asking"], [data-status="denied"], [data-status="cancelled"]) .outcome { color: var(--warn); }
.time { color: var(--muted); font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
/* Near whatever was pressed, and it moves nothing. */
.said {
  position: sticky;
  inset-block-end: 0;
  padding-block: 0.625rem;
  background: var(--field);
  border-block-start: 1px solid var(--border);
  overflow-wrap: anywhere;
}
.said:empty { padding: 0; border: 0; }
.said.failure { color: var(--bad); }
dialog {
  max-inline-size: min(26rem, calc(100vw - 2rem));
  padding: 1.25rem;
  color: var(--text);
  background: var(--surface);
  border: 1px solid var(--border);
  border-radius: var(--radius);
}
dialog::backdrop { background: rgb(0 0 0 / 0.45); }
dialog .detail { margin-block: 0.5rem 1.25rem; }
dialog .buttons { justify-content: flex-end; }
dialog button.danger { color: var(--surface); background: var(--bad); border-color: var(--bad); }
dialog button.danger:hover { background: color-mix(in srgb, var(--bad), var(--text) 15%); }
@container (max-width: 22rem) {
  .status > button { inline-size: 100%; }
  .call { grid-template-columns: 1fr auto; }
  .call .name { grid-column: 1 / -1; }
}
`;

let sheet: CSSStyleSheet | undefined;

/** The sheet that all elements of a page share: made in script, which the strictest policy allows. */
export function widgetStyle(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
