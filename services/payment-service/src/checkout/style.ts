import { createHash } from 'node:crypto';
import { trustedHtml } from '@tollgate/service-kit';

/** The style sheet of all pages: 320 px and wider, light and dark, no external content. */
const styleSheet = `
:root {
  color-scheme: light dark;
  --page: #eef1f5; --panel: #ffffff; --ink: #15202e; --quiet: #56657a; --line: #7b8798; --field: #ffffff;
  --accent: #1f4fd8; --accent-strong: #183fae; --on-accent: #ffffff; --focus: #1f4fd8;
  --good: #14713d; --good-tint: #e4f5ea; --bad: #b3261e; --bad-tint: #fdeceb; --note: #7a4d00; --note-tint: #fff3d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e141c; --panel: #182230; --ink: #eef2f7; --quiet: #a5b3c6; --line: #7486a3; --field: #101823;
    --accent: #7fa2ff; --accent-strong: #a3bcff; --on-accent: #0b1424; --focus: #a3bcff;
    --good: #6fd69a; --good-tint: #14311f; --bad: #ff9d96; --bad-tint: #3a1b1c; --note: #ffd58a; --note-tint: #33270f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif;
  overflow-wrap: anywhere;
}
.layout { max-width: 28rem; margin: 0 auto; padding: 1rem; }
.summary { padding: .5rem .25rem 1.25rem; }
.mode {
  display: inline-block; margin: 0 0 1rem; padding: .125rem .625rem; border-radius: 1rem;
  background: var(--note-tint); color: var(--note); font-size: .8125rem; font-weight: 600;
}
.shop { display: flex; align-items: center; gap: .625rem; margin: 0 0 1.25rem; font-size: 1.0625rem; font-weight: 600; }
.initial {
  flex: none; display: grid; place-items: center; width: 2rem; height: 2rem; border-radius: .5rem;
  background: var(--accent); color: var(--on-accent); font-weight: 700;
}
.leave { margin: .75rem 0 0; font-size: .875rem; text-align: center; }
.leave a { color: var(--accent); }
.product { margin: 0; font-size: 1.125rem; line-height: 1.35; font-weight: 600; }
.amount { margin: .125rem 0 0; font-size: 2.125rem; line-height: 1.2; font-weight: 700; letter-spacing: -.02em; }
.facts { margin: .75rem 0 0; font-size: .875rem; color: var(--quiet); }
.facts div { display: flex; flex-wrap: wrap; column-gap: .5rem; }
.facts dd { margin: 0; color: var(--ink); }
.panel {
  background: var(--panel); border-radius: 1rem; padding: 1.25rem;
  box-shadow: 0 1px 2px rgb(10 20 40 / .08), 0 8px 28px rgb(10 20 40 / .08);
}
h1 { margin: 0 0 1.125rem; font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; }
h2 { margin: 0 0 .25rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
.field { position: relative; margin: 0 0 1rem; }
.pair { display: grid; grid-template-columns: 1fr 1fr; column-gap: .75rem; }
.pair .field { display: flex; flex-direction: column; margin-bottom: 0; }
.pair { margin-bottom: 1rem; }
.pair .fault { grid-column: 1 / -1; margin-top: .375rem; }
.pair input { margin-top: auto; }
label { display: block; font-size: .9375rem; font-weight: 600; }
.hint { display: block; margin-bottom: .375rem; font-size: .8125rem; color: var(--quiet); }
.fault:empty { display: none; }
.brand { position: absolute; right: .875rem; top: 2.53rem; max-width: 40%; font-size: .8125rem; font-weight: 600; line-height: 1.25rem; color: var(--quiet); pointer-events: none; }
.fault { margin: .375rem 0 0; font-size: .875rem; font-weight: 600; color: var(--bad); }
input {
  display: block; width: 100%; min-height: 3rem; margin-top: .25rem; padding: .5rem .75rem;
  border: 1px solid var(--line); border-radius: .625rem; background: var(--field); color: var(--ink); font: inherit;
}
input[inputmode="numeric"] { font-variant-numeric: tabular-nums; }
input[aria-invalid="true"] { border: 2px solid var(--bad); }
input:focus-visible, button:focus-visible, a:focus-visible, .faults:focus-visible {
  outline: 3px solid var(--focus); outline-offset: 2px;
}
button, .button {
  display: block; width: 100%; min-height: 3.125rem; padding: .75rem 1rem; border: 1px solid transparent;
  border-radius: .625rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-strong); }
button.second { margin-top: .75rem; background: transparent; border-color: var(--line); color: var(--ink); }
button.second:hover { background: var(--page); }
.privacy { margin: 1rem 0 0; font-size: .8125rem; color: var(--quiet); text-align: center; }
.lock { width: 1rem; height: 1rem; margin-right: .375rem; vertical-align: -.1875rem; }
.lock path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.faults { margin: 0 0 1.25rem; padding: .875rem 1rem; border-left: 4px solid var(--bad); border-radius: .5rem; background: var(--bad-tint); }
.faults ul { margin: 0; padding-left: 1.125rem; }
.faults a { color: var(--bad); }
.outcome { text-align: center; }
.outcome h1 { margin-bottom: .375rem; }
.outcome p:last-child { margin-bottom: 0; }
.sign { display: block; width: 3.5rem; height: 3.5rem; margin: .25rem auto 1rem; padding: .875rem; border-radius: 50%; }
.sign path { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
.good { background: var(--good-tint); color: var(--good); }
.bad { background: var(--bad-tint); color: var(--bad); }
.note { background: var(--note-tint); color: var(--note); }
@media (min-width: 52rem) {
  .layout { max-width: 58rem; display: grid; grid-template-columns: 1fr 26rem; column-gap: 4rem; padding: 5rem 2rem 2rem; align-items: start; }
  .layout.alone { display: block; max-width: 30rem; }
  .amount { font-size: 2.75rem; }
  .panel { padding: 2rem; }
}
`;

/** The only style sheet that the content security policy allows. */
export const styleSource = `'sha256-${createHash('sha256').update(styleSheet).digest('base64')}'`;

/** The whole element: any additional space inside would change the hash. */
export const styleElement = trustedHtml(`<style>${styleSheet}</style>`);
