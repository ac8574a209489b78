/*
SPDX-License-Identifier: Apache-2.0
*/

/** style is the style sheet of the views. Colors are variables, one set for each mode of the theme. */
export const style = `
.dbc {
  --ink: #1c2733; --muted: #566373; --line: #d4dae2; --surface: #ffffff; --raised: #f6f8fa;
  --good: #1f7f4c; --change: #2465b3; --warning: #99610a; --bad: #b3311f; --quiet: #616b78; --unknown: #6b5a96;
  color: var(--ink); font-size: 0.9rem; line-height: 1.45;
}
.dbc-dark {
  --ink: #e7ebf0; --muted: #a3afbd; --line: #3d4753; --surface: #1d242c; --raised: #262f39;
  --good: #5cc98d; --change: #79b2f5; --warning: #e5b85c; --bad: #f58b7b; --quiet: #97a2b0; --unknown: #b8a5e8;
}
.dbc h2 { font-size: 1rem; font-weight: 600; margin: 1.6rem 0 0.6rem; }
.dbc p { margin: 0.3rem 0; max-width: 80ch; }
.dbc table { border-collapse: collapse; width: 100%; }
.dbc th { text-align: left; font-weight: 600; color: var(--muted); font-size: 0.8rem; white-space: nowrap; }
.dbc th, .dbc td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.dbc svg { display: block; width: 100%; height: auto; font-family: inherit; }
.dbc svg.dbc-icon { display: inline-block; width: 0.85em; height: 0.85em; vertical-align: -0.06em; margin-right: 0.45em; flex: none; }
.dbc-muted { color: var(--muted); }
.dbc-scroll { overflow-x: auto; }
.dbc-health { font-weight: 600; white-space: nowrap; }
.dbc-message { color: var(--muted); font-size: 0.82rem; max-width: 60ch; overflow-wrap: anywhere; }
.dbc-summary { display: flex; flex-wrap: wrap; gap: 0.4rem 1.6rem; margin: 0 0 0.8rem; padding: 0; list-style: none; }
.dbc-facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2.2rem; margin: 0.6rem 0 0; }
.dbc-facts dt { color: var(--muted); font-size: 0.78rem; }
.dbc-facts dd { margin: 0; overflow-wrap: anywhere; }
.dbc-note { border-left: 3px solid var(--unknown); padding: 0.2rem 0.8rem; margin: 0.8rem 0; }
.dbc-legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.4rem; color: var(--muted); font-size: 0.8rem; margin-top: 0.4rem; }
.dbc-good { color: var(--good); } .dbc-change { color: var(--change); } .dbc-warning { color: var(--warning); }
.dbc-bad { color: var(--bad); } .dbc-quiet { color: var(--quiet); } .dbc-unknown { color: var(--unknown); }
`;
