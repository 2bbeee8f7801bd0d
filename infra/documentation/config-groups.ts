/** Groups of variables on the configuration page. A variable belongs to the first group that matches its name. */
export const groups = [
  {
    title: 'The process',
    names: /^TOLLGATE_(DATA_DIR|INDEX_DIR|INSTANCE|LOG_LEVEL)$/,
    about:
      'Several gateways on one data directory: [more than one gateway](processes.md#more-than-one-gateway). The schema version: [upgrading](upgrading.md).',
  },
  {
    title: 'Servers',
    names: /^(GATEWAY_|TRUSTED_PROXIES$|CALLBACK_PORT$)/,
    about: 'See [connections](processes.md#connections) and [TLS](secrets-and-tls.md#tls).',
  },
  {
    title: 'Signing in to the console',
    names: /^(OIDC_|CONSOLE_)/,
    about: 'See [accounts of your organization](people.md#sign-in-with-your-organizations-accounts).',
  },
  {
    title: 'Separate service processes',
    names: /^((COMMAND_SERVICE|QUERY_SERVICE|NOTIFIER)_URL|INTERNAL_SECRETS)$/,
    about: 'See [separate processes](processes.md).',
  },
  {
    title: 'The Payment Service',
    names: /^PROVIDER_/,
    about: 'The accounts themselves are in [a file](#the-accounts-file).',
  },
  { title: 'Callbacks', names: /^CALLBACK_/, about: 'The URLs that the Payment Service calls.' },
  {
    title: 'Inquiries, reviews and reconciliation',
    names: /^(FINAL_INQUIRIES_AFTER_S|RECONCILE_AFTER_DAYS|REVIEWS_BY_TWO)$/,
    about: 'See [reconciliation](reconciliation.md).',
  },
  {
    title: 'Webhooks',
    names: /^WEBHOOK_(SECRETS|NETWORKS)$/,
    about: 'See [webhooks](webhooks.md).',
  },
  {
    title: 'Secrets and signatures',
    names: /^(DATA_SECRETS|TOLLGATE_TEAM_SIGNING_)/,
    about:
      'See [secrets](secrets-and-tls.md#secrets) and [signed changes](teams-and-keys.md#signed-changes).',
  },
  {
    title: 'Retention',
    names: /^(WEBHOOK_RETENTION|REQUEST_RETENTION|REQUESTS_PER_TEAM)/,
    about: 'See [growth](retention.md).',
  },
  { title: 'EventStoreDB', names: /^EVENTSTORE_/, about: 'See [EventStoreDB](eventstoredb.md).' },
  { title: 'Kafka', names: /^KAFKA_/, about: 'See [Kafka](kafka.md).' },
  {
    title: 'The sandbox',
    names: /^PAYMENT_SERVICE_/,
    about: 'The gateway starts it if `PROVIDER_ACCOUNTS_FILE` is unset.',
  },
] as const;
