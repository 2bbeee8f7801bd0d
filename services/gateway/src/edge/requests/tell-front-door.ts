/** Behind a front door: tells it what it cannot know of the requests that it hands on. */
import type { FastifyInstance } from 'fastify';
import { encodeNotes, notesOf, requestNotesHeader } from './request-notes.ts';
import { tokenOf } from './to-request-record.ts';

export function tellFrontDoor(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header(requestNotesHeader, encodeNotes(notesOf(request), tokenOf(request)));
    done(null, payload);
  });
}
