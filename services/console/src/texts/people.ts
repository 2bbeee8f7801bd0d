export const peopleTexts = {
  title: 'Tokens and sessions',
  intro: {
    all: 'API tokens and console sessions of all people. Revoking takes effect within a second.',
    own: 'Your API tokens and console sessions. Revoking takes effect within a second.',
  },
  columns: {
    person: 'Person',
    kind: 'Kind',
    issued: 'Issued',
    expires: 'Expires',
    id: 'Id',
    revoke: 'Revoke',
  },
  kinds: { token: 'API token', session: 'Console session' },
  from: (address: string) => `from ${address}`,
  current: 'this session',
  revoke: 'Revoke',
  revokeAll: (person: string) => `Revoke all of ${person}`,
  done: (count: number) => (count === 1 ? 'Revoked.' : `Revoked ${count} tokens and sessions.`),
  empty: 'No tokens or sessions.',
};
