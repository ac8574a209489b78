/*
SPDX-License-Identifier: Apache-2.0
*/

import { cluster, member } from './example';
import { layout, shorten, slots } from './members';
import { Claim, Cluster, Pod } from './types';

function withMembers(...members: ReturnType<typeof member>[]): Cluster {
  const c = cluster();
  c.status!.members = members;
  return c;
}

function pod(name: string, ready: string): Pod {
  return {
    metadata: { name, namespace: 'shop' },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
}

function claim(name: string, phase?: string): Claim {
  return {
    metadata: { name, namespace: 'shop' },
    status: { phase, capacity: { storage: '10Gi' } },
  };
}

const three = [0, 1, 2].map(i => pod(`orders-${i}`, 'True'));

describe('members', () => {
  it('have their role and state', () => {
    const c = withMembers(
      member(0, { role: 'Primary' }),
      member(1, { role: 'Replica', ready: false, state: 'Starting' }),
      member(2, { ready: false, state: 'Failing', message: 'no space' })
    );
    expect(slots(c).map(s => [s.role, s.word, s.tone])).toEqual([
      ['Primary', 'Ready', 'good'],
      ['Replica', 'Starting', 'change'],
      ['Role unknown', 'Failing', 'bad'],
    ]);
  });

  it('have no role if the engine has none', () => {
    expect(slots(withMembers(member(0), member(1)))[0].role).toBe('');
  });

  it('are unknown if status and pod contradict each other, or the pod does not exist', () => {
    const c = withMembers(member(0), member(1), member(2, { ready: false, state: 'Starting' }));
    const pods = [pod('orders-0', 'False'), three[2]];
    expect(slots(c, pods).map(s => [s.tone, s.word])).toEqual([
      ['unknown', 'Status Ready, pod not ready'],
      ['unknown', 'No pod'],
      ['unknown', 'Status Starting, pod ready'],
    ]);
  });

  it('are judged by the status alone if the pods could not be read', () => {
    expect(slots(withMembers(member(0), member(1), member(2))).map(s => s.tone)).toEqual([
      'good',
      'good',
      'good',
    ]);
  });

  it('of another namespace are other members', () => {
    const elsewhere = { ...three[0], metadata: { name: 'orders-0', namespace: 'test' } };
    expect(slots(withMembers(member(0)), [elsewhere])[0].word).toBe('No pod');
  });

  it('that terminate are not called ready', () => {
    const going = {
      ...three[0],
      metadata: { ...three[0].metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(slots(withMembers(member(0)), [going])[0]).toMatchObject({
      tone: 'change',
      word: 'Terminating',
    });
  });

  it('in a state of another version are unknown', () => {
    expect(slots(withMembers(member(0, { state: 'Dreaming' })))[0]).toMatchObject({
      tone: 'unknown',
      word: 'Unknown',
    });
  });

  it('that are wanted and do not exist have an empty place', () => {
    const c = withMembers(member(0));
    expect(slots(c).map(s => [s.name, s.exists, s.word])).toEqual([
      ['orders-0', true, 'Ready'],
      ['orders-1', false, 'Not created'],
      ['orders-2', false, 'Not created'],
    ]);
    c.spec!.hibernated = true;
    expect(slots(c)[1].word).toBe('Stopped');
    expect(slots({ metadata: { name: 'new' }, spec: { replicas: 1 } })[0]).toMatchObject({
      tone: 'unknown',
      word: 'Unknown',
    });
  });

  it('beyond the wanted number are to be removed, and those of a previous template are outdated', () => {
    const c = withMembers(member(0), member(1, { outdated: true }));
    c.spec!.replicas = 1;
    expect(slots(c).map(s => s.notes)).toEqual([[], ['outdated template', 'to be removed']]);
  });
});

describe('volumes', () => {
  it('have the phase of their claim', () => {
    const c = withMembers(member(0), member(1), member(2));
    const claims = [claim('data-orders-0', 'Bound'), claim('data-orders-1', 'Lost')];
    expect(slots(c, three, claims).map(s => [s.volume!.word, s.volume!.tone])).toEqual([
      ['Bound', 'good'],
      ['Lost', 'bad'],
      ['No claim', 'unknown'],
    ]);
  });

  it('show both sizes while they grow', () => {
    const c = withMembers(
      member(0, { volume: { claim: 'data-orders-0', requested: '20Gi', capacity: '10Gi' } })
    );
    expect(slots(c)[0].volume!.size).toBe('10Gi of 20Gi');
  });

  it('stay in the picture while their member does not exist', () => {
    const c = withMembers();
    c.spec!.hibernated = true;
    const all = slots(
      c,
      [],
      [
        claim('data-orders-0', 'Bound'),
        claim('data-0ab1-orders-1', 'Bound'),
        claim('data-orders-x-2', 'Bound'),
      ]
    );
    expect(all.map(s => s.volume?.claim)).toEqual([
      'data-orders-0',
      'data-0ab1-orders-1',
      undefined,
    ]);
  });
});

describe('the layout', () => {
  it.each([1, 2, 3, 4, 5, 9])(
    'of %i members has no box outside of the picture or over another',
    count => {
      const { boxes, height } = layout(count, 940);
      expect(boxes).toHaveLength(count);
      boxes.forEach((a, i) => {
        expect(a.x).toBeGreaterThanOrEqual(0);
        expect(a.x + a.width).toBeLessThanOrEqual(940);
        expect(a.y + a.height).toBeLessThanOrEqual(height);
        for (const b of boxes.slice(i + 1)) {
          expect(
            a.x + a.width <= b.x ||
              b.x + b.width <= a.x ||
              a.y + a.height <= b.y ||
              b.y + b.height <= a.y
          ).toBe(true);
        }
      });
    }
  );

  it('keeps the ordinal of a long name', () => {
    expect(shorten('a-rather-long-name-of-a-cluster-12', 20)).toMatch(
      /^a-rather.*…er-12$|^a-.*….*-12$/
    );
    expect(shorten('a-rather-long-name-of-a-cluster-12', 20)).toHaveLength(20);
    expect(shorten('orders-0', 20)).toBe('orders-0');
  });
});
