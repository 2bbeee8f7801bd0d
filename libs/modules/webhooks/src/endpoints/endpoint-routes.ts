/** Routes of a team's standing webhook endpoints, and of the disabled ones for operators. */
import type { EventStore } from '@tollgate/event-store';
import {
  type PublicWebhookEndpoint,
  everyWebhookEvent,
  toPublicWebhookEndpoint,
} from '@tollgate/gateway-api';
import {
  type Call,
  type Route,
  addRoute,
  routes,
  bodySchemas,
  parameterOf,
  sendError,
} from '@tollgate/gateway-api/http';
import { type Actor, InvariantViolation } from '@tollgate/core';
import {
  type Clock,
  type Ids,
  type Log,
  type WebhookMasterSecret,
  hourMs,
  omitUndefined,
  sendErrors,
  toErrorEntries,
  webhookSecretsOf,
  isAllowedOrigin,
} from '@tollgate/service-kit';
import { type Caller, type TeamDirectory } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { queueAtEndpoint } from '../webhook-events.ts';
import type { WebhookJournal } from '../webhook-journal.ts';
import type { EndpointBook } from './endpoint-book.ts';
import { createEndpointDirectory } from './endpoint-directory.ts';
import {
  type EndpointOwner,
  type Endpoint,
  type EndpointCommand,
  endpointChangesMax,
  endpointsMax,
  secretVersionsOf,
} from './endpoint.ts';

/** Maximum listed disabled endpoints. */
const disabledMax = 500;
const overlapHoursDefault = 24;

export function registerEndpointRoutes(app: FastifyInstance, deps: EndpointRouteDependencies): void {
  const { book, clock } = deps;
  addRoute(app, deps, routes.listWebhookEndpoints, async ({ caller, reply }) => {
    const owner = ownerOf(caller);
    const endpoints = (await book.list(owner)).map((each) => toPublicEndpoint(owner, each));
    return reply.send({ success: true, endpoints });
  });
  addRoute(app, deps, routes.createWebhookEndpoint, async ({ caller, request, reply }) => {
    const parsed = bodySchemas.WebhookEndpointRequest.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { events = [everyWebhookEvent], ...terms } = parsed.data;
    if (!isAllowed(caller, terms.url)) return sendNotAllowed(reply);
    const id = `we_${deps.ids.hex(12)}`;
    const to = { ...omitUndefined(terms), url: canonicalUrl(terms.url), events };
    const command: EndpointCommand = { type: 'Add', id, ...to, at: clock.now() };
    return changed(deps, { caller, reply, command }, (owner, endpoint) =>
      reply.code(201).send(withSecret(deps, owner, endpoint)),
    );
  });
  addEndpointRoute(app, deps, routes.retrieveWebhookEndpoint, async ({ owner, endpoint, reply }) =>
    reply.send({ success: true, endpoint: toPublicEndpoint(owner, endpoint) }),
  );
  addEndpointRoute(app, deps, routes.changeWebhookEndpoint, async ({ caller, endpoint, request, reply }) => {
    const parsed = bodySchemas.WebhookEndpointChange.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const { url } = parsed.data;
    if (url !== undefined && !isAllowed(caller, url)) return sendNotAllowed(reply);
    const to = { ...parsed.data, url: url && canonicalUrl(url) };
    const command: EndpointCommand = { type: 'Change', id: endpoint.id, to, at: clock.now() };
    return changed(deps, { caller, reply, command });
  });
  addEndpointRoute(app, deps, routes.removeWebhookEndpoint, async ({ caller, owner, endpoint, reply }) => {
    const command: EndpointCommand = { type: 'Remove', id: endpoint.id, at: clock.now() };
    const answer = await book.change(owner, command, actorOf(caller));
    if (answer.kind === 'refused') return sendRefusal(reply, answer.refusal.code);
    return reply.send({ success: true, endpoint: toPublicEndpoint(owner, endpoint) });
  });
  addEndpointRoute(app, deps, routes.rotateWebhookEndpointSecret, async (call) => {
    const { caller, endpoint, request, reply } = call;
    const parsed = bodySchemas.SecretRotation.safeParse(request.body);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    const at = clock.now();
    const formerUntil = at + (parsed.data?.overlapHours ?? overlapHoursDefault) * hourMs;
    const command: EndpointCommand = { type: 'RotateSecret', id: endpoint.id, formerUntil, at };
    return changed(deps, { caller, reply, command }, (owner, rotated) =>
      reply.send(withSecret(deps, owner, rotated)),
    );
  });
  addEndpointRoute(app, deps, routes.testWebhookEndpoint, (call) => sendTest(deps, call));
  addRoute(app, deps, routes.listDisabledEndpoints, async ({ reach, reply }) => {
    const known = createEndpointDirectory(deps.log);
    await known.catchUp(deps.store, undefined, new AbortController().signal);
    const disabled = known.disabled().filter(reach.includes);
    const toShown = (each: (typeof disabled)[number]) => ({
      ...toPublicEndpoint(each, each),
      team: each.team,
    });
    const endpoints = disabled.slice(0, disabledMax).map(toShown);
    return reply.send({ success: true, endpoints, count: disabled.length });
  });
}

/** One spelling for one target (WHATWG URL). A fragment is never sent. */
function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

const isAllowed = ({ allowedOrigins }: Caller, url: string): boolean =>
  isAllowedOrigin(url, allowedOrigins.callback);

const sendNotAllowed = (reply: FastifyReply): FastifyReply =>
  sendError(reply, 'origin_not_allowed', { parameter: 'url' });

const refusalDetails = {
  too_many_webhook_endpoints: {
    message: `Your team has ${endpointsMax} webhook endpoints in this environment. Delete one first.`,
  },
  too_many_endpoint_changes: {
    message: `Your team has reached ${endpointChangesMax} changes of webhook endpoints, the maximum. Contact an operator.`,
  },
  webhook_endpoint_exists: {},
  webhook_endpoint_not_found: {},
};
const sendRefusal = (reply: FastifyReply, code: keyof typeof refusalDetails): FastifyReply =>
  sendError(reply, code, refusalDetails[code]);

interface Changing {
  caller: Caller;
  reply: FastifyReply;
  command: EndpointCommand;
}

/** Executes the command, and answers with the endpoint after it unless `answer` is given. */
async function changed(
  { book }: EndpointRouteDependencies,
  { caller, reply, command }: Changing,
  answer = (owner: EndpointOwner, endpoint: Endpoint): FastifyReply =>
    reply.send({ success: true, endpoint: toPublicEndpoint(owner, endpoint) }),
): Promise<FastifyReply> {
  const owner = ownerOf(caller);
  const outcome = await book.change(owner, command, actorOf(caller));
  if (outcome.kind === 'refused') return sendRefusal(reply, outcome.refusal.code);
  const endpoint = outcome.endpoints.find(({ id }) => id === command.id);
  if (endpoint === undefined) throw new InvariantViolation('a changed endpoint does not exist');
  return answer(owner, endpoint);
}

/** Derived, not stored: the current one of the first master. */
function withSecret({ secrets, clock }: EndpointRouteDependencies, owner: EndpointOwner, endpoint: Endpoint) {
  const { environment, team } = owner;
  const [secret] = webhookSecretsOf(secrets, environment, team, secretVersionsOf(endpoint, clock.now()));
  return { success: true, endpoint: toPublicEndpoint(owner, endpoint), secret: secret?.reveal() };
}

async function sendTest(
  { journal, clock, ids }: EndpointRouteDependencies,
  { owner, endpoint, reply }: EndpointCall,
): Promise<FastifyReply> {
  if (endpoint.disabled !== undefined) return sendError(reply, 'webhook_endpoint_disabled');
  const token = `test_${ids.hex(12)}`;
  const id = `whk_${ids.hex(16)}`;
  const amounts = { amount: 1250, currency: 'EUR' };
  const body = { token, type: 'test', status: 'approved', orderNumber: null, ...amounts } as const;
  const due = { id, ...owner, url: endpoint.url, endpoint: endpoint.id, body, at: clock.now() };
  const causationId = ids.uuid();
  const cause = { correlationId: causationId, causationId };
  await journal.recordDue(queueAtEndpoint(endpoint.id, token), [due], cause);
  return reply.code(202).send({ success: true, id });
}

export interface EndpointRouteDependencies {
  store: EventStore;
  book: EndpointBook;
  journal: WebhookJournal;
  directory: TeamDirectory;
  secrets: readonly WebhookMasterSecret[];
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** A call about an endpoint of the caller's own. */
interface EndpointCall<Stated extends Route = Route> extends Call<Stated> {
  owner: EndpointOwner;
  endpoint: Endpoint;
}

const ownerOf = ({ environment, team }: Caller): EndpointOwner => ({ environment, team });
const actorOf = ({ team, keyId }: Caller): Actor => ({ kind: 'team', team, keyId });

/** 404 for an endpoint of another team. */
function addEndpointRoute<Stated extends Route>(
  app: FastifyInstance,
  deps: EndpointRouteDependencies,
  route: Stated,
  handle: (call: EndpointCall<Stated>) => Promise<FastifyReply>,
): void {
  addRoute(app, deps, route, async (call) => {
    const owner = ownerOf(call.caller);
    const endpoint = await deps.book.find(owner, parameterOf(call.request, 'id'));
    if (endpoint === undefined) return sendError(call.reply, 'webhook_endpoint_not_found');
    return handle({ ...call, owner, endpoint });
  });
}

const toPublicEndpoint = (
  { environment }: EndpointOwner,
  { disabled, formerSecrets, ...endpoint }: Endpoint,
): PublicWebhookEndpoint =>
  toPublicWebhookEndpoint({
    ...endpoint,
    environment,
    status: disabled === undefined ? 'enabled' : 'disabled',
    disabledReason: disabled?.reason,
    disabledAt: disabled?.at,
    formerSecretUntil: formerSecrets[0]?.until,
  });
