/*
SPDX-License-Identifier: Apache-2.0
*/

import { Claim, Cluster, Member, Pod, Tone } from './types';

/** Volume is the data volume of a place for a member. */
export interface Volume {
  claim: string;
  tone: Tone;
  /** size is the capacity, and the size that the claim requests if it is another one. */
  size: string;
  word: string;
}

/** Slot is a place for a member: one for each ordinal that exists, is wanted, or has a volume. */
export interface Slot {
  ordinal: number;
  name: string;
  tone: Tone;
  word: string;
  role: '' | 'Primary' | 'Replica' | 'Role unknown';
  /** notes are what will happen to the member. */
  notes: string[];
  /** details are the node, the zone and the version, as far as they are known. */
  details: string[];
  message: string;
  exists: boolean;
  volume?: Volume;
}

const states: Record<string, Tone> = {
  Ready: 'good',
  Starting: 'change',
  Failing: 'bad',
  Terminating: 'change',
};

/** slots returns the members of a cluster. Lists that could not be read are undefined, and then judge nothing. */
export function slots(cluster: Cluster, pods?: Pod[], claims?: Claim[]): Slot[] {
  const members = cluster.status?.members ?? [];
  const withRoles = members.some(m => m.role) || !!cluster.status?.primary;
  const all = new Map<number, Slot>();
  for (const m of members) {
    const ordinal = m.ordinal ?? ordinalOf(m.pod);
    all.set(ordinal, slotOf(m, ordinal, withRoles, cluster, pods, claims));
  }
  for (let ordinal = 0; ordinal < (cluster.spec?.replicas ?? 0); ordinal++) {
    if (!all.has(ordinal)) {
      all.set(ordinal, emptySlot(cluster, ordinal, claims));
    }
  }
  return [...all.values()].sort((a, b) => a.ordinal - b.ordinal);
}

function ordinalOf(pod: string): number {
  return Number(/-(\d+)$/.exec(pod)?.[1] ?? 0);
}

function slotOf(
  m: Member,
  ordinal: number,
  withRoles: boolean,
  cluster: Cluster,
  pods?: Pod[],
  claims?: Claim[]
): Slot {
  const surplus = ordinal >= (cluster.spec?.replicas ?? ordinal + 1);
  const details = [m.node, m.zone, m.version && `version ${m.version}`];
  const notes = [m.outdated && 'outdated template', surplus && 'to be removed'];
  return {
    ordinal,
    name: m.pod,
    ...stateOf(m, pods, cluster.metadata.namespace),
    role: roleOf(m, withRoles),
    notes: notes.filter((n): n is string => !!n),
    details: details.filter((d): d is string => !!d),
    message: m.message ?? '',
    exists: true,
    volume: m.volume && volumeOf(m.volume.claim, cluster, claims, m),
  };
}

function roleOf(m: Member, withRoles: boolean): Slot['role'] {
  if (m.role === 'Primary' || m.role === 'Replica') {
    return m.role;
  }
  return withRoles ? 'Role unknown' : '';
}

/** stateOf judges a member by its status. A pod that contradicts the status makes it unknown: one of them is old. */
export function stateOf(
  m: Member,
  pods: Pod[] | undefined,
  namespace?: string
): { tone: Tone; word: string } {
  const state = m.state ?? (m.ready ? 'Ready' : '');
  const pod = pods?.find(p => p.metadata.name === m.pod && p.metadata.namespace === namespace);
  if (pods && !pod) {
    return { tone: 'unknown', word: 'No pod' };
  }
  if (pod?.metadata.deletionTimestamp) {
    return { tone: 'change', word: 'Terminating' };
  }
  const ready = pod?.status?.conditions?.find(c => c.type === 'Ready')?.status;
  if (ready !== undefined && (ready === 'True') !== (state === 'Ready')) {
    return {
      tone: 'unknown',
      word: `Status ${state || 'unknown'}, pod ${ready === 'True' ? 'ready' : 'not ready'}`,
    };
  }
  return states[state]
    ? { tone: states[state], word: state }
    : { tone: 'unknown', word: 'Unknown' };
}

function emptySlot(cluster: Cluster, ordinal: number, claims?: Claim[]): Slot {
  const { name, deletionTimestamp } = cluster.metadata;
  const word = !cluster.status?.conditions?.length
    ? 'Unknown'
    : deletionTimestamp
    ? 'No member'
    : cluster.spec?.hibernated
    ? 'Stopped'
    : 'Not created';
  const claim = claims?.find(
    c =>
      c.metadata.namespace === cluster.metadata.namespace &&
      isDataOf(c.metadata.name, name, ordinal)
  );
  return {
    ordinal,
    name: `${name}-${ordinal}`,
    tone: word === 'Unknown' ? 'unknown' : 'quiet',
    word,
    role: '',
    notes: [],
    details: [],
    message: '',
    exists: false,
    volume: claim && volumeOf(claim.metadata.name, cluster, claims),
  };
}

// After a restore in place, the names of claims have a part more.
function isDataOf(claim: string, cluster: string, ordinal: number): boolean {
  const match = /^data-(?:0[0-9a-f]+-)?(.+)-(\d+)$/.exec(claim);
  return match?.[1] === cluster && match[2] === String(ordinal);
}

const phases: Record<string, Tone> = { Bound: 'good', Pending: 'change', Lost: 'bad' };

function volumeOf(name: string, cluster: Cluster, claims?: Claim[], m?: Member): Volume {
  const claim = claims?.find(
    c => c.metadata.name === name && c.metadata.namespace === cluster.metadata.namespace
  );
  const capacity = text(m?.volume?.capacity) || claim?.status?.capacity?.storage || '';
  const requested = text(m?.volume?.requested) || claim?.spec?.resources?.requests?.storage || '';
  const size =
    capacity && requested && capacity !== requested ? `${capacity} of ${requested}` : capacity;
  if (claims && !claim) {
    return { claim: name, tone: 'unknown', size, word: 'No claim' };
  }
  if (claim?.metadata.deletionTimestamp) {
    return { claim: name, tone: 'change', size, word: 'Terminating' };
  }
  const phase = claim?.status?.phase ?? (capacity ? 'Bound' : '');
  return {
    claim: name,
    tone: phases[phase] ?? 'unknown',
    size,
    word: phases[phase] ? phase : 'Unknown',
  };
}

function text(quantity?: string | number): string {
  return quantity === undefined || quantity === 0 || quantity === '0' ? '' : String(quantity);
}

/** Box is where a slot is in the picture. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const [boxWidth, boxHeight, gapX, gapY] = [208, 196, 20, 24];

/** layout places a number of slots in rows, centered in the width. It returns the boxes and the height of the picture. */
export function layout(count: number, width: number): { boxes: Box[]; height: number } {
  const columns = Math.max(1, Math.min(count, Math.floor((width + gapX) / (boxWidth + gapX))));
  const lines = Math.ceil(count / columns);
  const boxes = Array.from({ length: count }, (_, i) => {
    const line = Math.floor(i / columns);
    const inLine = Math.min(columns, count - line * columns);
    const left = (width - inLine * boxWidth - (inLine - 1) * gapX) / 2;
    return {
      x: left + (i % columns) * (boxWidth + gapX),
      y: line * (boxHeight + gapY),
      width: boxWidth,
      height: boxHeight,
    };
  });
  return { boxes, height: Math.max(0, lines * boxHeight + (lines - 1) * gapY) };
}

/** shorten cuts a text in its middle, so that the beginning and the ordinal at the end stay. */
export function shorten(value: string, most: number): string {
  if (value.length <= most) {
    return value;
  }
  const end = Math.floor((most - 1) / 2);
  return `${value.slice(0, most - 1 - end)}…${value.slice(value.length - end)}`;
}
