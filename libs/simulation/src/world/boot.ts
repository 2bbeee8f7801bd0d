/** The two machines of a world, and how a gateway process is started on one of them. */
import { errorCode } from '@tollgate/service-kit';
import { restart } from '../faults/disasters.ts';
import type { World } from '../world.ts';
import { createMachine } from './machine.ts';
import { startProcess } from './process.ts';

/** Adds the machines and defines how each one boots. */
export function addMachines(world: World): void {
  const { random, scheduler, trace } = world;
  for (const name of ['a', 'b'])
    world.machines.push(createMachine(name, scheduler, random.fork(`machine ${name}`)));
  world.boot = (machine) => {
    const life = machine.life();
    trace.log(`${life.name} starts`);
    startProcess(world, life).then(
      (process) => {
        machine.process = process;
        trace.log(`${life.name} serves`);
      },
      (error: unknown) => {
        trace.log(`${life.name} could not start: ${errorCode(error) ?? String(error)}`);
        if (errorCode(error) === undefined) world.complain('start', String(error));
        restart(world, machine, 1_000);
      },
    );
  };
}
