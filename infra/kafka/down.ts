/** `npm run kafka:down`: stops the broker of `npm run kafka:up`, and keeps its data. */
import { findBroker, removePidFile, stopBroker } from './broker-process.ts';
import { cacheFolder, readCommandLine } from './command-line.ts';
import { runCommand } from '../stop-with-sentence.ts';

const usage = `npm run kafka:down [-- --data-dir <folder>]

Stops the broker of npm run kafka:up. Its records stay. Delete the folder to delete them.
  --data-dir <folder>  the folder that it was started with (${cacheFolder}/data)
`;

await runCommand(async () => {
  const { wantsHelp, dataDir } = readCommandLine(process.argv.slice(2));
  if (wantsHelp) {
    process.stdout.write(usage);
    return 0;
  }
  const running = findBroker(dataDir);
  if (running === undefined) {
    removePidFile(dataDir);
    process.stdout.write(`No broker runs on the data in ${dataDir}.\n`);
    return 0;
  }
  process.stdout.write(`Stopping Kafka (process ${running.pid}) …\n`);
  const isStopped = await stopBroker(dataDir, running.pid);
  process.stdout.write(
    isStopped
      ? 'Kafka is stopped.\n'
      : 'Kafka did not stop in time and was killed; it recovers at the next start.\n',
  );
  return 0;
});
