import { array, assert, asyncProperty, constantFrom, integer, jsonValue, record } from 'fast-check';
import { beginning, type RecordedEvent } from '@tollgate/event-store';
import { describe, expect, test } from 'vitest';
import { checkChain, link, linkOf } from './chain.ts';

function logOf(entries: readonly unknown[]): { events: RecordedEvent[]; hashes: string[] } {
  let previous: string | undefined;
  const hashes: string[] = [];
  const events = entries.map((value, revision): RecordedEvent => {
    const place = { teamsUpTo: '', ...(previous === undefined ? {} : { previous }) };
    const event = { id: `e${revision}`, type: 'OperatorActed', data: { value }, metadata: { at: revision } };
    const linked = link(event, revision, place);
    previous = linkOf(linked)!.hash;
    hashes.push(previous);
    const stored = JSON.parse(JSON.stringify(linked)) as typeof linked;
    return { ...stored, kind: 'event', stream: 'security-log', revision, position: beginning, recordedAt: 0 };
  });
  return { events, hashes };
}

async function* given(events: readonly RecordedEvent[]): AsyncGenerator<RecordedEvent> {
  yield* events;
}

const check = (events: readonly RecordedEvent[], noted?: string) => checkChain(given(events), noted);
const faultOf = async (events: readonly RecordedEvent[]) => (await check(events)).fault?.kind;

const five = logOf(['a', 'b', 'c', 'd', 'e']);

describe('a log', () => {
  test('without tampering is whole, and has a head', async () => {
    const head = { revision: 4, hash: five.hashes[4] };
    expect(await check(five.events)).toEqual({ head, fault: undefined, hasNoted: undefined });
    expect(await check([])).toEqual({ head: undefined, fault: undefined, hasNoted: undefined });
  });

  test('is whole against every noted hash of it', async () => {
    for (const hash of five.hashes) expect((await check(five.events, hash)).hasNoted).toBe(true);
  });

  test('with a missing end differs only from a noted hash', async () => {
    const short = five.events.slice(0, 3);
    expect(await check(short)).toMatchObject({ fault: undefined, head: { revision: 2 } });
    expect((await check(short, five.hashes[4])).hasNoted).toBe(false);
    expect((await check([], five.hashes[4])).hasNoted).toBe(false);
  });

  test('rewritten as a whole differs only from a noted hash', async () => {
    const forged = logOf(['a', 'b', 'x', 'd', 'e']);
    expect(await check(forged.events, five.hashes[4])).toMatchObject({ fault: undefined, hasNoted: false });
  });
});

describe('a log shows', () => {
  const [a, b, c, d, e] = five.events as [
    ...[RecordedEvent, RecordedEvent, RecordedEvent, RecordedEvent, RecordedEvent],
  ];

  test('a removed event', async () => {
    expect(await faultOf([a, b, d, e])).toBe('removed');
    expect(await faultOf([b, c, d, e])).toBe('removed');
  });

  test('a removed event, even if the others were renumbered', async () => {
    const renumbered = [a, b, d, e].map((event, revision) => ({ ...event, revision }));
    expect(await faultOf(renumbered)).toBe('changed');
  });

  test('reordering', async () => {
    expect(await faultOf([a, c, b, d, e])).toBe('removed');
    expect(await faultOf([a, { ...c, revision: 1 }, { ...b, revision: 2 }, d, e])).toBe('changed');
  });

  test('an event of another log in place of one', async () => {
    const other = logOf(['a', 'z', 'c', 'd', 'e']).events;
    expect(await faultOf([a, other[1]!, c, d, e])).toBe('out_of_order');
    expect(await faultOf([a, b, other[2]!, d, e])).toBe('out_of_order');
  });

  test('an event without a link', async () => {
    for (const metadata of [{}, null, 'link', { link: {} }, { link: { hash: '', teamsUpTo: '' } }])
      expect(await faultOf([a, b, { ...c, metadata }, d, e])).toBe('changed');
  });

  test('any change of any event', async () => {
    const field = constantFrom('id', 'type', 'data', 'metadata');
    const changes = record({ place: integer({ min: 0, max: 4 }), field, value: jsonValue() });
    const changed = asyncProperty(changes, async ({ place, field: name, value }) => {
      const events: RecordedEvent[] = five.events.map((event, number) =>
        number === place ? { ...event, [name]: value } : event,
      );
      const isSame = JSON.stringify(events[place]?.[name]) === JSON.stringify(five.events[place]?.[name]);
      expect((await check(events)).fault === undefined).toBe(isSame);
    });
    await assert(changed);
  });

  test('no fault if there is none, with any content', async () => {
    await assert(
      asyncProperty(array(jsonValue(), { maxLength: 8 }), async (entries) => {
        expect((await check(logOf(entries).events)).fault).toBeUndefined();
      }),
    );
  });
});
