export { runCommand } from './command.ts';
export { conformanceTests } from './tests/all.ts';
