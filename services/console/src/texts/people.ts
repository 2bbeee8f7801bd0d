export const peopleTexts = {
  title: 'Tokens and sessions',
  intro: {
    all: 'Those of all people that have not expired. Revoking takes effect within a second.',
    own: 'Yours that have not expired. Revoking takes effect within a second.',
  },
  columns: {
    person: 'Person',
    kind: 'What',
    issued: 'Issued',
    expires: 'Ends at the latest',
    id: 'Id',
    revoke: 'Revoke',
  },
  kinds: { token: 'Token of the API', session: 'Session of the console' },
  from: (address: string) => `from ${address}`,
  current: 'this session',
  revoke: 'Revoke',
  revokeAll: (person: string) => `Revoke everything of ${person}`,
  done: (count: number) => (count === 1 ? 'Revoked.' : `Revoked ${count} tokens and sessions.`),
  empty: 'No tokens or sessions.',
};
