/** The page of everything that can be configured, out of the schemas that read it. */
import { accountEntrySchema } from '../account-config.ts';
import { gatewayConfigSchema } from '../config.ts';
import { serviceNames } from '../service-names.ts';
import { variablesOf } from '../service-variables.ts';
import { type ConfigField, fieldsOf } from './fields.ts';
import { groups } from './groups.ts';

const opening = `# Configuration

Written by \`npm run reference\` out of the schemas that the program reads; change those. Everything has a default that suits a
developer's machine. All variables are checked together at the start, which ends with a sentence that names each one at
fault; faults in the files that they name, and an invalid signing key, are reported next. An empty variable counts as not set. \`npm start\` and \`npm run services\` take all of them; what runs a service in a process of its own needs to give
it those that are read there. \`TOLLGATE_AS\` names the person who runs a command ([more](teams-and-keys.md#the-author-of-a-change)).
`;

const accountsOpening = `## The accounts file

\`PROVIDER_ACCOUNTS_FILE\` names it: \`{"accounts": [{…}]}\` with these fields for each account
([an example](accounts.md#the-accounts-file)).
`;

export function createConfigurationReference(): string {
  const variables = fieldsOf(gatewayConfigSchema).map((field) => ({ field, group: groupOf(field.name) }));
  const sections = groups.map((group) => {
    const rows = variables
      .filter((each) => each.group === group)
      .map(({ field }) => row([...cellsOf(field), readersOf(field.name)]));
    return `## ${group.title}\n\n${group.about}\n\n${table(['variable', 'default', 'takes', 'what for', 'read by'], rows)}`;
  });
  const accountRows = fieldsOf(accountEntrySchema).map((field) => row(cellsOf(field)));
  const accounts = `${accountsOpening}\n${table(['field', 'default', 'takes', 'what for'], accountRows)}`;
  return [opening, ...sections, accounts].join('\n');
}

function groupOf(name: string): (typeof groups)[number] {
  const group = groups.find(({ names }) => names.test(name));
  if (group === undefined) throw new Error(`${name} is in no group of the configuration reference`);
  return group;
}

function cellsOf({ name, byDefault, unset, isRequired, rule, description }: ConfigField): string[] {
  const otherwise = isRequired ? 'required' : (unset ?? '');
  return [
    `\`${name}\``,
    byDefault === undefined ? otherwise : `\`${byDefault}\``,
    rule?.replace(/^must be /, '') ?? '',
    description,
  ];
}

function readersOf(name: string): string {
  const readers = serviceNames.filter((service) => variablesOf(service).includes(name));
  if (readers.length === serviceNames.length) return 'all';
  if (readers.length > 0) return readers.join(', ');
  return name.startsWith('PAYMENT_SERVICE_') ? 'the sandbox' : 'command line';
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const table = (heads: readonly string[], rows: readonly string[]): string =>
  `${[row(heads), row(heads.map(() => '---')), ...rows].join('\n')}\n`;
