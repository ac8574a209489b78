/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { Box, layout, shorten, Slot, Volume } from '../model/members';
import { color, Shape } from './Tone';

const width = 940;
const padding = 14;
const cardHeight = 118;

/** MembersPicture draws the members of a cluster, each above its volume. */
export function MembersPicture({ slots, cluster }: { slots: Slot[]; cluster: string }) {
  if (slots.length === 0) {
    return <p className="dbc-muted">No member is known.</p>;
  }
  const { boxes, height } = layout(slots.length, width);
  return (
    <svg
      viewBox={`0 0 ${width} ${height + 4}`}
      role="img"
      aria-label={`Members of ${cluster}`}
      style={{ maxWidth: width }}
    >
      {slots.map((slot, i) => (
        <MemberCard key={slot.ordinal} slot={slot} box={boxes[i]} />
      ))}
    </svg>
  );
}

function describe(slot: Slot): string {
  const parts = [slot.name, slot.role, slot.word, ...slot.notes, ...slot.details, slot.message];
  if (slot.volume) {
    parts.push(`volume ${slot.volume.claim}: ${slot.volume.word} ${slot.volume.size}`);
  }
  return parts.filter(Boolean).join(', ');
}

function MemberCard({ slot, box }: { slot: Slot; box: Box }) {
  const { x, y, width: w } = box;
  const primary = slot.role === 'Primary';
  return (
    <g data-member={slot.name}>
      <title>{describe(slot)}</title>
      <rect
        x={x + 1}
        y={y + 1}
        width={w - 2}
        height={cardHeight}
        rx={8}
        fill={slot.exists ? 'var(--raised)' : 'none'}
        stroke={primary ? color(slot.tone) : 'var(--line)'}
        strokeWidth={primary ? 2.2 : 1.2}
        strokeDasharray={slot.exists ? undefined : '5 4'}
      />
      <Shape tone={slot.tone} x={x + padding + 6} y={y + 22} r={6} />
      <text x={x + padding + 20} y={y + 27} fontSize={14} fontWeight={600} fill="var(--ink)">
        {shorten(slot.name, 21)}
      </text>
      <text x={x + padding} y={y + 50} fontSize={13} fill={color(slot.tone)}>
        {shorten([slot.word, ...slot.notes].join(', '), 30)}
      </text>
      <Role slot={slot} x={x + padding} y={y + 60} />
      {slot.details.slice(0, 2).map((detail, i) => (
        <text key={detail} x={x + padding} y={y + 94 + i * 15} fontSize={11.5} fill="var(--muted)">
          {shorten(
            i === 0 || slot.details.length < 3 ? detail : slot.details.slice(1).join(', '),
            32
          )}
        </text>
      ))}
      {slot.volume && <Cylinder volume={slot.volume} x={x} y={y + cardHeight} width={w} />}
    </g>
  );
}

function Role({ slot, x, y }: { slot: Slot; x: number; y: number }) {
  if (!slot.role) {
    return null;
  }
  const primary = slot.role === 'Primary';
  const w = slot.role === 'Role unknown' ? 86 : 62;
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={w}
        height={20}
        rx={10}
        fill={primary ? 'var(--ink)' : 'none'}
        stroke={primary ? 'var(--ink)' : 'var(--quiet)'}
        strokeDasharray={slot.role === 'Role unknown' ? '4 3' : undefined}
      />
      <text
        x={x + w / 2}
        y={y + 14}
        fontSize={11.5}
        textAnchor="middle"
        fill={primary ? 'var(--surface)' : 'var(--muted)'}
      >
        {slot.role}
      </text>
    </g>
  );
}

function Cylinder({
  volume,
  x,
  y,
  width: w,
}: {
  volume: Volume;
  x: number;
  y: number;
  width: number;
}) {
  const [left, right, top, bottom, ry] = [x + 22, x + w - 22, y + 26, y + 66, 6];
  const rx = (right - left) / 2;
  const stroke = { stroke: color(volume.tone), strokeWidth: 1.3, fill: 'none' };
  return (
    <g>
      <line
        x1={x + w / 2}
        y1={y + 2}
        x2={x + w / 2}
        y2={top - ry}
        stroke="var(--line)"
        strokeWidth={1.5}
      />
      <path
        d={`M${left} ${top} A${rx} ${ry} 0 0 1 ${right} ${top} V${bottom} A${rx} ${ry} 0 0 1 ${left} ${bottom} Z`}
        {...stroke}
        strokeDasharray={volume.tone === 'unknown' ? '4 3' : undefined}
      />
      <path d={`M${left} ${top} A${rx} ${ry} 0 0 0 ${right} ${top}`} {...stroke} />
      <text x={x + w / 2} y={top + 21} fontSize={11.5} textAnchor="middle" fill="var(--ink)">
        {shorten(volume.claim, 24)}
      </text>
      <text x={x + w / 2} y={top + 37} fontSize={11.5} textAnchor="middle" fill="var(--muted)">
        {[volume.size || 'size unknown', volume.word].join(', ')}
      </text>
    </g>
  );
}
