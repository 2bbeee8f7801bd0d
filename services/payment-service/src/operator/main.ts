/** The operator's command line of the Payment Service: `npm run payment-service -- --help`. */
import { readConfig } from '@tollgate/service-kit';
import { paymentServiceConfigSchema } from '../config.ts';
import { runOperatorCommand } from './command-line.ts';
import { openBesideServices } from './operations.ts';

process.umask(0o077);
process.exitCode = await runOperatorCommand(process.argv.slice(2), {
  open: () => openBesideServices(readConfig(paymentServiceConfigSchema, process.env).dataDir),
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
