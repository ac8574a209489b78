/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { clock } from '../model/time';
import { Band, Mark, place, rows, Timeline } from '../model/timeline';
import { color, Shape, Sign } from './Tone';

const width = 940;
const left = 104;
const plot = width - left - 12;
const rowHeight = 22;
const bandHeight = 20;

/** TimelinePicture draws the backups and the times that can be recovered. Times are in UTC. */
export function TimelinePicture({
  line,
  cluster,
  archive,
}: {
  line: Timeline;
  cluster: string;
  archive: boolean;
}) {
  const of = rows(line, plot, 18, 3);
  const lines = Math.max(1, ...of.map(row => row + 1));
  const bandTop = 26 + lines * rowHeight + 10;
  const axis = bandTop + (archive ? bandHeight + 14 : 0);
  const x = (time: number) => left + place(line, time, plot);
  return (
    <>
      <svg
        viewBox={`0 0 ${width} ${axis + 26}`}
        role="img"
        aria-label={`Backups of ${cluster}`}
        style={{ maxWidth: width }}
      >
        <Hatches />
        <Axis line={line} x={x} y={axis} />
        <text x={0} y={26 + rowHeight / 2 + 4} fontSize={12} fill="var(--muted)">
          Backups
        </text>
        {line.marks.map((m, i) => (
          <BackupMark
            key={m.name}
            mark={m}
            x={x(m.time)}
            y={26 + of[i] * rowHeight + rowHeight / 2}
          />
        ))}
        {line.next !== undefined && <Next time={line.next} x={x(line.next)} now={x(line.now)} />}
        {archive && <Bands line={line} x={x} y={bandTop} />}
      </svg>
      <Legend line={line} archive={archive} />
    </>
  );
}

// The next backup is a dotted ring. Its word would cover that of now if they are close to each other.
function Next({ time, x, now }: { time: number; x: number; now: number }) {
  return (
    <g>
      <title>Next backup: {clock(time)} UTC</title>
      <circle
        cx={x}
        cy={26 + rowHeight / 2}
        r={5}
        fill="none"
        stroke="var(--quiet)"
        strokeDasharray="2 2"
      />
      {x - now > 36 && (
        <text x={x} y={18} fontSize={11} textAnchor="middle" fill="var(--muted)">
          next
        </text>
      )}
    </g>
  );
}

// Patterns, because two ranges must differ without colors.
function Hatches() {
  return (
    <defs>
      <pattern
        id="dbc-archiving"
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line x1="0" y1="0" x2="0" y2="6" stroke="var(--good)" strokeWidth="1.6" />
      </pattern>
      <pattern
        id="dbc-lost"
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(-45)"
      >
        <line x1="0" y1="0" x2="0" y2="6" stroke="var(--bad)" strokeWidth="1.6" />
      </pattern>
    </defs>
  );
}

function Axis({ line, x, y }: { line: Timeline; x: (time: number) => number; y: number }) {
  return (
    <g>
      {line.ticks.map(tick => (
        <g key={tick.time}>
          <line x1={x(tick.time)} y1={24} x2={x(tick.time)} y2={y} stroke="var(--line)" />
          <text x={x(tick.time)} y={y + 17} fontSize={11} textAnchor="middle" fill="var(--muted)">
            {tick.label}
          </text>
        </g>
      ))}
      <line x1={left} y1={y} x2={left + plot} y2={y} stroke="var(--line)" strokeWidth={1.5} />
      <line
        x1={x(line.now)}
        y1={22}
        x2={x(line.now)}
        y2={y}
        stroke="var(--ink)"
        strokeWidth={1.2}
      />
      <text
        x={x(line.now)}
        y={18}
        fontSize={11}
        fontWeight={600}
        textAnchor="middle"
        fill="var(--ink)"
      >
        now
      </text>
      <text x={0} y={y + 17} fontSize={11} fill="var(--muted)">
        UTC
      </text>
    </g>
  );
}

const verified = {
  yes: 'verified',
  failed: 'verification failed',
  running: 'verification runs',
  no: 'not verified',
};

function BackupMark({ mark, x, y }: { mark: Mark; x: number; y: number }) {
  const text = [
    mark.name,
    mark.word,
    clock(mark.time) + ' UTC',
    mark.size,
    verified[mark.verified],
    mark.message,
  ];
  return (
    <g data-backup={mark.name}>
      <title>{text.filter(Boolean).join(', ')}</title>
      <Shape tone={mark.tone} x={x} y={y} r={5} />
      {mark.verified === 'yes' && (
        <circle cx={x} cy={y} r={8} fill="none" stroke={color('good')} strokeWidth={1.4} />
      )}
      {mark.verified === 'failed' && (
        <rect
          x={x - 8}
          y={y - 8}
          width={16}
          height={16}
          fill="none"
          stroke={color('bad')}
          strokeWidth={1.4}
        />
      )}
    </g>
  );
}

function Bands({ line, x, y }: { line: Timeline; x: (time: number) => number; y: number }) {
  const box = (band: Band) => ({
    x: x(band.from),
    y,
    width: Math.max(2, x(band.to) - x(band.from)),
    height: bandHeight,
  });
  const range = (band: Band) => `${clock(band.from)} to ${clock(band.to)} UTC`;
  return (
    <g>
      <text x={0} y={y + 14} fontSize={12} fill="var(--muted)">
        Recoverable
      </text>
      {line.recoverable.map(band => (
        <rect
          key={band.from}
          data-band="recoverable"
          {...box(band)}
          fill="var(--good)"
          fillOpacity={0.55}
        >
          <title>Recoverable: {range(band)}</title>
        </rect>
      ))}
      {line.archiving && (
        <rect
          data-band="archiving"
          {...box(line.archiving)}
          fill="url(#dbc-archiving)"
          stroke="var(--good)"
          strokeWidth={0.8}
        >
          <title>Archived, not read back yet: {range(line.archiving)}</title>
        </rect>
      )}
      {line.lost && (
        <rect
          data-band="lost"
          {...box(line.lost)}
          fill="url(#dbc-lost)"
          stroke="var(--bad)"
          strokeWidth={0.8}
        >
          <title>Not recoverable without a new backup: {range(line.lost)}</title>
        </rect>
      )}
    </g>
  );
}

function Swatch({ fill, stroke }: { fill: string; stroke: string }) {
  return (
    <svg className="dbc-icon" viewBox="0 0 16 16" aria-hidden="true">
      <rect
        x={0.5}
        y={3}
        width={15}
        height={10}
        fill={fill}
        fillOpacity={fill.startsWith('url') ? 1 : 0.55}
        stroke={stroke}
      />
    </svg>
  );
}

function Legend({ line, archive }: { line: Timeline; archive: boolean }) {
  const tones = [...new Map(line.marks.map(m => [m.word, m.tone])).entries()];
  return (
    <div className="dbc-legend">
      {tones.map(([word, tone]) => (
        <span key={word}>
          <Sign tone={tone} />
          {word}
        </span>
      ))}
      {line.marks.some(m => m.verified === 'yes') && <span>◎ with a ring: verified</span>}
      {line.marks.some(m => m.verified === 'failed') && (
        <span>▣ with a square: verification failed</span>
      )}
      {archive && line.recoverable.length > 0 && (
        <span>
          <Swatch fill="var(--good)" stroke="none" />
          each moment can be recovered
        </span>
      )}
      {line.archiving && (
        <span>
          <Swatch fill="url(#dbc-archiving)" stroke="var(--good)" />
          archived, not read back by the operator yet
        </span>
      )}
      {line.lost && (
        <span>
          <Swatch fill="url(#dbc-lost)" stroke="var(--bad)" />
          not recoverable without a new backup
        </span>
      )}
    </div>
  );
}
