/**
 * In the end the endpoint of a team has received what its `callbackUrl` has of the events after it was added; and who keeps a secret as long
 * as it overlaps can verify everything meanwhile.
 */
import { createHmac } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import { type TeamName, endpointUrlOf, teamNames } from '../people/teams.ts';
import {
  type Inbox,
  type ReceivedWebhook,
  type WebhookMessage,
  createInbox,
  readWebhook,
} from '../people/webhooks.ts';
import { createWebhookTries } from './webhook-tries.ts';
import type { World } from '../world.ts';

export interface TeamEndpoint {
  team: TeamName;
  inbox: Inbox;
  /** Those that the team knows, the latest last. */
  secrets: string[];
  /** A former secret may have ended before the team knew the one after it. */
  mayRefuse: boolean;
  /** A webhook came that no known secret has signed. */
  isPuzzled: boolean;
  /** How often each was refused for that: after a few times the next try is hours away. */
  refused: Map<string, number>;
  /** Empty before it was added. */
  id: string;
  /** The position of the event that added it; undefined before. */
  since: string | undefined;
}

/** Of one webhook: then it is not waited for. */
const refusalsMax = 2;

export interface WebhookEndpoints {
  of(team: TeamName): TeamEndpoint;
  onRecorded(event: RecordedEvent): void;
  /** What the receiver of an endpoint answers; undefined where the URL is none. */
  receive(message: WebhookMessage): number | undefined;
  /** What was given up at an endpoint and not sent again since. @returns which of it still was not, when it is asked for later */
  givenUpAt(id: string): () => string[];
  /** Whether what the `callbackUrl` of a payment or payout still has to be sent is hours away. */
  areTriesUsedUp(token: string): boolean;
  /** What has come to one of the two and not to the other, though it should have. */
  differences(): string[];
}

export function createWebhookEndpoints({
  books,
  webhooks,
  complain,
  saw,
  faults,
  isRestored,
}: Pick<World, 'books' | 'webhooks' | 'complain' | 'saw' | 'faults' | 'isRestored'>): WebhookEndpoints {
  const endpoints = teamNames.map((team): TeamEndpoint => ({
    team,
    inbox: createInbox(`the endpoint of ${team}`, complain),
    secrets: [],
    mayRefuse: false,
    isPuzzled: false,
    refused: new Map(),
    id: '',
    since: undefined,
  }));
  const replays = createReplayCheck({ complain, saw });
  const tries = createWebhookTries();
  /** Of events of payments and payouts, by token and number. */
  const positions = new Map<string, string>();

  function differencesAt({ team, inbox, refused, id, since }: TeamEndpoint): string[] {
    if (since === undefined) return [];
    const toCallbackUrl = [...webhooks.all()]
      .filter(({ subject }) => books.find(subject)?.team === team)
      .filter(({ subject, sequence }) => (positions.get(`${subject} ${sequence}`) ?? '') > since);
    const toEndpoint = [...inbox.all()];
    return [
      ...beyond(toCallbackUrl, toEndpoint)
        .filter(({ line }) => (refused.get(line) ?? 0) < refusalsMax)
        .filter(({ subject }) => !tries.areUsedUp(`webhook-${id}.${subject}`))
        .map(({ line }) => `the endpoint of ${team} was not sent: ${line}`),
      ...beyond(toEndpoint, toCallbackUrl)
        .filter(({ subject }) => !tries.areUsedUp(`webhook-${subject}`))
        .map(({ line }) => `only the endpoint of ${team} was sent: ${line}`),
    ];
  }

  return {
    of: (team) => endpoints.find((each) => each.team === team) as TeamEndpoint,
    onRecorded: (event) => {
      // The store has forgotten some: a team whose request was not answered adds its endpoint once more (seed 51633).
      if (isRestored()) return;
      const { stream, revision, type, data, position } = event;
      replays.onRecorded(event);
      if (stream.startsWith('webhook-')) tries.onRecorded(event);
      const [, token] = /^(?:payment|payout)-(.*)$/.exec(stream) ?? [];
      if (token !== undefined) positions.set(`${token} ${revision}`, position);
      if (type !== 'EndpointAdded') return;
      const added = endpoints.find(({ team }) => endpointUrlOf(team) === (data as { url: string }).url);
      if (added === undefined) return;
      if (added.since !== undefined) complain('webhooks', `the endpoint of ${added.team} was added twice`);
      added.since = position;
      added.id = (data as { id: string }).id;
    },
    receive: (message) => {
      const endpoint = endpoints.find(({ team }) => endpointUrlOf(team) === message.url);
      if (endpoint === undefined) return undefined;
      const { team, inbox, secrets, mayRefuse } = endpoint;
      if (secrets.some((secret) => isSignedWith(secret, message))) {
        saw('a webhook to an endpoint');
        inbox.take(message.body);
        return 200;
      }
      // Over days an overlap ends, too.
      if (secrets.length > 0 && !mayRefuse && !faults.counts().has('outage-of-days'))
        complain('webhooks', `${team} has kept its secret, and cannot verify a webhook with it`);
      endpoint.isPuzzled = secrets.length > 0;
      const { line } = readWebhook(message.body);
      endpoint.refused.set(line, (endpoint.refused.get(line) ?? 0) + 1);
      return 401;
    },
    givenUpAt: (id) => replays.givenUpAt(id),
    areTriesUsedUp: (token) => tries.areUsedUp(`webhook-${token}`),
    differences: () => endpoints.flatMap(differencesAt),
  };
}

/** What is among the first and not among the others. */
function beyond(first: readonly ReceivedWebhook[], others: readonly ReceivedWebhook[]): ReceivedWebhook[] {
  const known = new Set(others.map(({ line }) => line));
  return first.filter(({ line }) => !known.has(line));
}

interface Replayable {
  type: string;
  id: string;
  nextAt?: number;
}

/** What nobody has asked for again is sent again only where it was given up without an attempt, and once. */
function createReplayCheck({ complain, saw }: Pick<World, 'complain' | 'saw'>) {
  const histories = new Map<string, Replayable[]>();
  return {
    onRecorded: ({ stream, type, data, metadata }: RecordedEvent): void => {
      if (!stream.startsWith('webhook-we_')) return;
      const own = histories.get(stream) ?? [];
      const { id, nextAt } = data as { id: string; nextAt?: number };
      const { actor } = metadata as { actor?: { name?: string } };
      if (type === 'ReplayRequested' && actor?.name === 'notifier') {
        const at = own.findLastIndex((each) => each.id === id);
        const before = own[at - 1];
        const wasTried = before?.id === id && before.type === 'DeliveryFailed' && before.nextAt === undefined;
        if (own[at]?.type !== 'DeliveryGivenUp' || wasTried)
          complain('webhooks', `${id} of ${stream} is sent again, and nobody has asked for it`);
        else saw('what was given up behind the enabling was sent');
      }
      own.push({ type, id, ...(nextAt === undefined ? {} : { nextAt }) });
      histories.set(stream, own);
    },
    givenUpAt: (endpoint: string): (() => string[]) => {
      const givenUp = [...histories]
        .filter(([stream]) => stream.startsWith(`webhook-${endpoint}`))
        .flatMap(([stream, own]) =>
          [...new Map(own.map((each) => [each.id, each])).values()]
            .filter(({ type }) => type === 'DeliveryGivenUp')
            .map(({ id }) => ({ stream, id, own, length: own.length })),
        );
      return () =>
        givenUp
          .filter(({ id, own, length }) => !own.slice(length).some((later) => later.id === id))
          .map(({ stream, id }) => `${id} of ${stream}`);
    },
  };
}

/** As Standard Webhooks 1.0 says; not by the library that signs. */
function isSignedWith(secret: string, { headers, body }: WebhookMessage): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.${body}`;
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return headers['webhook-signature']?.split(' ').includes(signature) === true;
}
