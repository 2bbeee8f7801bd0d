export { runCommand, type CommandDeps, type ExitCode } from './command.ts';
