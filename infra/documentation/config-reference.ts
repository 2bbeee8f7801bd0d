/** The page of everything that can be configured, out of the schemas that read it. */
import {
  type ConfigField,
  accountEntrySchema,
  fieldsOf,
  gatewayConfigSchema,
  serviceNames,
  variablesOf,
} from '@tollgate/gateway/configuration';
import { groups } from './config-groups.ts';

const opening = `# Configuration

This page is generated from the schemas that the program reads (\`npm run reference\`). Every variable has a default for development.
The start checks all variables together and names each invalid one. An empty variable counts as unset.

\`npm start\` accepts all variables. A service in its own process needs the variables that it reads (last column).
\`TOLLGATE_AS\` names the person who runs a command ([more](teams-and-keys.md#the-author-of-a-change)).
`;

const accountsOpening = `## The accounts file

\`PROVIDER_ACCOUNTS_FILE\` is the path of \`{"accounts": [{…}]}\`, with these fields for each account
([an example](accounts.md#the-accounts-file)).
`;

export function createConfigurationReference(): string {
  const variables = fieldsOf(gatewayConfigSchema).map((field) => ({ field, group: groupOf(field.name) }));
  const sections = groups.map((group) => {
    const rows = variables
      .filter((each) => each.group === group)
      .map(({ field }) => row([...cellsOf(field), readersOf(field.name)]));
    return `## ${group.title}\n\n${group.about}\n\n${table(['variable', 'default', 'values', 'meaning', 'read by'], rows)}`;
  });
  const accountRows = fieldsOf(accountEntrySchema).map((field) => row(cellsOf(field)));
  const accounts = `${accountsOpening}\n${table(['field', 'default', 'values', 'meaning'], accountRows)}`;
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
