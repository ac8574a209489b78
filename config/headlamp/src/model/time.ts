/*
SPDX-License-Identifier: Apache-2.0
*/

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** at returns the milliseconds of a time in RFC 3339, and undefined for an absent or invalid one. */
export function at(time?: string): number | undefined {
  const value = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(value) ? undefined : value;
}

/** span returns a duration in its largest unit, for example "5 h". */
export function span(milliseconds: number): string {
  const value = Math.abs(milliseconds);
  const units: [number, string][] = [
    [2 * day, 'd'],
    [2 * hour, 'h'],
    [2 * minute, 'min'],
    [0, 's'],
  ];
  const sizes: Record<string, number> = { d: day, h: hour, min: minute, s: second };
  const unit = units.find(([from]) => value >= from)![1];
  return `${Math.floor(value / sizes[unit])} ${unit}`;
}

/** age returns how long ago a time was, "in 5 h" for a time in the future, and "unknown" for an absent one. */
export function age(now: number, time?: string): string {
  const then = at(time);
  if (then === undefined) {
    return 'unknown';
  }
  return then > now ? `in ${span(then - now)}` : `${span(now - then)} ago`;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const two = (value: number) => String(value).padStart(2, '0');

/** clock returns a time in UTC, for example "3 Nov 14:05". */
export function clock(time: number): string {
  const d = new Date(time);
  return `${date(time)} ${two(d.getUTCHours())}:${two(d.getUTCMinutes())}`;
}

function date(time: number): string {
  const d = new Date(time);
  return `${d.getUTCDate()} ${months[d.getUTCMonth()]}`;
}

const steps = [5 * minute, 15 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour];
const dayStep = [1, 2, 7, 14, 30, 90, 365].map(days => days * day);

/** ticks returns round times in UTC between two times, at most about eight, with their labels. */
export function ticks(from: number, to: number): { time: number; label: string }[] {
  const step =
    [...steps, ...dayStep].find(s => (to - from) / s <= 8) ?? dayStep[dayStep.length - 1];
  const all = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const midnight = time % day === 0;
    all.push({ time, label: midnight || step >= day ? date(time) : clock(time).split(' ')[2] });
  }
  return all;
}
