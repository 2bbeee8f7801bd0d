export { type CommandDeps, runCommand } from './command.ts';
export { conformanceTests } from './tests/all.ts';
