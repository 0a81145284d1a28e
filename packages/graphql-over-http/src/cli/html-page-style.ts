/**
 * The colours, as variables; the dark set replaces the light one if the reader's system prefers it.
 */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --line: #e1e5ea; --text: #16202c; --muted: #5b6776;
  --code: #f1f3f6; --ok: #1a7f45; --error: #c62a2f; --warn: #a35f00; --may: #2563a8;
  --ok-soft: #e3f4ea; --error-soft: #fdeaea; --warn-soft: #fdf1dc; --may-soft: #e6f0fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f141a; --card: #171e26; --line: #2a343f; --text: #e6ebf1; --muted: #98a5b4;
    --code: #10161d; --ok: #4cc585; --error: #ff7b7b; --warn: #f0b255; --may: #76b1f0;
    --ok-soft: #14301f; --error-soft: #3a1a1d; --warn-soft: #35270f; --may-soft: #14283d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.kicker { margin: 0; color: var(--muted); font-size: .875rem; letter-spacing: .02em; }
h1 { margin: .25rem 0 .5rem; font-size: 1.75rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 1.25rem; }
.verdict {
  margin: 1.5rem 0; padding: 1rem 1.25rem; border-radius: .75rem; font-size: 1.0625rem;
  border: 1px solid transparent;
}
.verdict strong { display: block; font-size: 1.25rem; }
.ok { --tone: var(--ok); --soft: var(--ok-soft); }
.error { --tone: var(--error); --soft: var(--error-soft); }
.warn { --tone: var(--warn); --soft: var(--warn-soft); }
.may { --tone: var(--may); --soft: var(--may-soft); }
.verdict { background: var(--soft); border-color: var(--tone); }
.verdict strong { color: var(--tone); }
.levels { display: grid; gap: 1rem; grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
.level {
  padding: 1rem 1.25rem; background: var(--card); color: inherit; text-decoration: none;
  border: 1px solid var(--line); border-radius: .75rem;
}
.level:hover { border-color: var(--muted); }
.level b { display: block; margin: .125rem 0 .625rem; font-size: 1.75rem; line-height: 1.2; }
.level b span { color: var(--muted); font-size: 1rem; font-weight: 400; }
.level .kicker b { display: inline; margin: 0; font-size: inherit; color: var(--text); }
.bar { height: .5rem; border-radius: .25rem; background: var(--soft); overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--ok); }
.bar:not(.ok) { background: var(--tone); }
section { margin-top: 2.75rem; }
.intro { margin: .25rem 0 1rem; color: var(--muted); }
ul { margin: 0; padding: 0; list-style: none; }
.fail {
  margin-bottom: .75rem; padding: .875rem 1.125rem; background: var(--card);
  border: 1px solid var(--line); border-left: .25rem solid var(--tone); border-radius: .5rem;
}
.title { display: flex; align-items: baseline; gap: .5rem; }
.title > span:last-child { min-width: 0; overflow-wrap: anywhere; }
.fail .title { font-weight: 600; }
.id {
  padding: 0 .375rem; border-radius: .25rem; background: var(--code); color: var(--muted);
  font-size: .8125rem; font-weight: 400;
}
.fail .id { background: var(--soft); color: var(--tone); }
.reason { margin: .25rem 0 .5rem; color: var(--tone); }
summary { cursor: pointer; color: var(--muted); font-size: .875rem; width: fit-content; }
summary:hover { color: var(--text); }
.exchange { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 1rem; }
.exchange > div { min-width: 0; }
h3 { margin: .75rem 0 .25rem; font-size: .875rem; color: var(--muted); font-weight: 600; }
pre {
  margin: 0; padding: .75rem .875rem; max-height: 24rem; overflow: auto; border-radius: .375rem;
  background: var(--code); font-size: .8125rem; line-height: 1.5; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.passing {
  padding: .75rem 1.125rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem;
}
.passing[open] summary { margin-bottom: .5rem; }
.passing li { padding: .3125rem 0; border-top: 1px solid var(--line); font-size: .9375rem; }
.tick { color: var(--ok); font-weight: 700; }
footer { margin-top: 3rem; color: var(--muted); font-size: .875rem; }
@media (max-width: 40rem) {
  main { padding-top: 1.5rem; }
  h1 { font-size: 1.25rem; }
  .levels { grid-auto-flow: row; gap: .625rem; }
}
@media print {
  body { background: none; }
  main { max-width: none; padding: 0; }
  .fail, .level, .verdict { break-inside: avoid; }
}
`
