import { describe, expect, it } from 'vitest';
import { answerFaults, createFaults, faultsSchema, queueFaults, type Fault } from './faults.ts';

const demo = 1;
const other = 2;

describe('faults', () => {
  it('apply as often as requested, in the order in which they were set', () => {
    const faults = createFaults();
    faults.add(demo, [
      { operation: 'create', fault: 'lost_reply', times: 2 },
      { operation: 'create', fault: 'html_502', times: 1 },
    ]);
    const struck = [1, 2, 3, 4].map(() => faults.take(demo, 'create', answerFaults)?.fault);
    expect(struck).toEqual(['lost_reply', 'lost_reply', 'html_502', undefined]);
    expect(faults.list(demo)).toEqual([]);
  });

  it('apply without limit if no number is given, until they are cleared', () => {
    const faults = createFaults();
    faults.add(demo, [{ operation: 'get', fault: 'slow_reply', delayMs: 7 }]);
    for (let call = 0; call < 100; call += 1)
      expect(faults.take(demo, 'get', answerFaults)).toEqual({ fault: 'slow_reply', delayMs: 7 });
    faults.clear(demo);
    expect(faults.take(demo, 'get', answerFaults)).toBeUndefined();
  });

  it('apply only to the intended merchant, operation and kinds', () => {
    const faults = createFaults();
    faults.add(demo, [{ operation: 'callback', fault: 'drop' }]);
    expect(faults.take(other, 'callback', queueFaults)).toBeUndefined();
    expect(faults.take(demo, 'create', answerFaults)).toBeUndefined();
    expect(faults.take(demo, 'callback', queueFaults)?.fault).toBe('drop');
    faults.add(demo, [{ operation: 'get', fault: 'html_502' }]);
    expect(faults.take(demo, 'create', answerFaults)).toBeUndefined();
    expect(faults.take(demo, 'get', answerFaults)?.fault).toBe('html_502');
  });

  it('apply to every n-th call', () => {
    const faults = createFaults();
    faults.add(demo, [{ operation: 'refund', fault: 'lost_reply', every: 3, times: 2 }]);
    const struck = Array.from({ length: 9 }, () => faults.take(demo, 'refund', answerFaults) !== undefined);
    expect(struck.map(Number)).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 0]);
    expect(faults.list(demo)).toEqual([]);
  });

  it('are refused beyond a thousand', () => {
    const faults = createFaults();
    const hundred: Fault[] = Array.from({ length: 100 }, () => ({ operation: 'get', fault: 'html_502' }));
    for (let times = 0; times < 10; times += 1) expect(faults.add(demo, hundred)).toBe(true);
    expect(faults.add(demo, hundred)).toBe(false);
    expect(faults.list(demo)).toHaveLength(1_000);
  });

  it.each([
    ['a callback with a fault of answers', [{ operation: 'callback', fault: 'html_502' }]],
    ['an operation with a fault of callbacks', [{ operation: 'create', fault: 'drop' }]],
    ['an operation that does not exist', [{ operation: 'capture', fault: 'lost_reply' }]],
    ['each first call', [{ operation: 'get', fault: 'lost_reply', every: 1 }]],
    ['a field that is not known', [{ operation: 'get', fault: 'lost_reply', time: 1 }]],
    ['nothing', []],
  ])('are not set for %s', (_name, body) => {
    expect(faultsSchema.safeParse(body).success).toBe(false);
  });
});
