/**
 * Runs steps one after the other, and between two steps all resolved continuations. A turn of the event loop polls the operating
 * system for I/O that a simulated world never has, so many steps share one turn.
 */
const stepsPerTurn = 256;

/** Work that the code under test deferred to the next turn. It runs before the next step, and is part of this one. */
interface PutOff {
  run: () => void;
}

/** Repeats until `step` returns false. @throws any error of a step */
export function runSteps(step: () => boolean): Promise<void> {
  const { setImmediate: plan } = globalThis;
  const { putOff, giveBack } = takeOverImmediates();
  let isOver = false;
  return new Promise<void>((resolve, reject) => {
    function go(): void {
      if (isOver) return;
      const first = putOff.shift();
      if (first !== undefined) return first.run();
      try {
        isOver = !step();
      } catch (error) {
        isOver = true;
        reject(error);
      }
      if (isOver) resolve();
    }
    // Between two immediates of one turn, Node runs the callbacks of resolved promises.
    function turn(): void {
      if (isOver) return;
      for (let count = 0; count < stepsPerTurn; count += 1) plan(go);
      plan(turn);
    }
    turn();
  }).finally(giveBack);
}

function takeOverImmediates() {
  const { setImmediate, clearImmediate } = globalThis;
  const putOff: PutOff[] = [];
  const put = (action: (...values: unknown[]) => void, ...values: unknown[]): PutOff => {
    const entry = { run: () => action(...values) };
    putOff.push(entry);
    return entry;
  };
  const takeBack = (entry: PutOff): void => {
    const index = putOff.indexOf(entry);
    if (index !== -1) putOff.splice(index, 1);
  };
  Object.assign(globalThis, { setImmediate: put, clearImmediate: takeBack });
  return { putOff, giveBack: () => void Object.assign(globalThis, { setImmediate, clearImmediate }) };
}
