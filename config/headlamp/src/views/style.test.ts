/*
SPDX-License-Identifier: Apache-2.0
*/

import { style } from './style';

function variables(selector: string): Record<string, string> {
  const block = style.slice(style.indexOf(`${selector} {`)).split('}')[0];
  return Object.fromEntries([...block.matchAll(/--(\w+): (#\w{6})/g)].map(m => [m[1], m[2]]));
}

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map(i => {
    const part = parseInt(color.slice(i, i + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

// The pages of Headlamp's themes are about as light or dark as the surfaces of the views.
describe.each([
  ['light', '.dbc', ['#ffffff', '#f5f5f5']],
  ['dark', '.dbc-dark', ['#282828', '#121212']],
])('the colors of the %s mode', (mode, selector, pages) => {
  const colors = variables(selector);
  const texts = ['ink', 'muted', 'good', 'change', 'warning', 'bad', 'quiet', 'unknown'];

  it.each(texts)('have enough contrast for %s as text, by WCAG AA', name => {
    for (const page of [colors.surface, colors.raised, ...pages]) {
      expect(contrast(colors[name], page), `${colors[name]} on ${page}`).toBeGreaterThanOrEqual(
        4.5
      );
    }
  });
});
