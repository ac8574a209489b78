/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { Tone } from '../model/types';
import { style } from './style';

/** Frame has the style of the views and the colors of the mode. */
export function Frame({ dark, children }: { dark: boolean; children: React.ReactNode }) {
  return (
    <div className={dark ? 'dbc dbc-dark' : 'dbc'}>
      <style>{style}</style>
      {children}
    </div>
  );
}

/** color is the color of a tone. */
export const color = (tone: Tone) => `var(--${tone})`;

/** Shape draws the sign of a tone around a point. Each tone has its own form, so nothing depends on colors alone. */
export function Shape({ tone, x, y, r }: { tone: Tone; x: number; y: number; r: number }) {
  const line = { fill: 'none', stroke: color(tone), strokeWidth: r / 3.2 };
  switch (tone) {
    case 'good':
      return <circle cx={x} cy={y} r={r} fill={color(tone)} />;
    case 'warning':
      return (
        <path
          d={`M${x} ${y - r} L${x + r} ${y + r * 0.85} L${x - r} ${y + r * 0.85} Z`}
          fill={color(tone)}
        />
      );
    case 'bad':
      return (
        <path
          d={`M${x - r * 0.8} ${y - r * 0.8} L${x + r * 0.8} ${y + r * 0.8} M${x + r * 0.8} ${
            y - r * 0.8
          } L${x - r * 0.8} ${y + r * 0.8}`}
          {...line}
          strokeWidth={r / 2}
        />
      );
    case 'change':
      return (
        <>
          <circle cx={x} cy={y} r={r * 0.84} {...line} />
          <path
            d={`M${x} ${y - r * 0.84} A${r * 0.84} ${r * 0.84} 0 0 1 ${x} ${y + r * 0.84} Z`}
            fill={color(tone)}
          />
        </>
      );
    case 'quiet':
      return <circle cx={x} cy={y} r={r * 0.84} {...line} />;
    default:
      return (
        <circle cx={x} cy={y} r={r * 0.84} {...line} strokeDasharray={`${r * 0.6} ${r * 0.45}`} />
      );
  }
}

/** Sign is the sign of a tone in a line of text. */
export function Sign({ tone }: { tone: Tone }) {
  return (
    <svg className="dbc-icon" viewBox="0 0 16 16" aria-hidden="true">
      <Shape tone={tone} x={8} y={8} r={7} />
    </svg>
  );
}

/** Word is a word with the sign and the color of its tone. */
export function Word({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <span className={`dbc-health dbc-${tone}`}>
      <Sign tone={tone} />
      {children}
    </span>
  );
}
