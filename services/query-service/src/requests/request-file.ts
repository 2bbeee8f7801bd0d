/** The SQLite file of what is kept of requests: it is nobody's only copy of anything that moves money. */
import type { Log } from '@tollgate/service-kit';
import { type LocalFile, openLocalFile } from '../local-file.ts';
import { type RequestRows, createRequestRows } from './request-rows.ts';

/** "TgRq" */
const applicationId = 0x54675271;

// Of one team, later requests stand behind earlier ones: an insertion is at the end of its part, and a page is read off.
const schema = `
  CREATE TABLE requests (
    environment TEXT NOT NULL, team TEXT NOT NULL, id TEXT NOT NULL,
    method TEXT NOT NULL, route TEXT, status INTEGER, error_code TEXT,
    duration_ms REAL NOT NULL, provider_ms REAL NOT NULL,
    key_id TEXT, token TEXT, client_request_id TEXT,
    PRIMARY KEY (environment, team, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_by_token ON requests (environment, team, token, id) WHERE token IS NOT NULL;
`;

/** @throws StartupError where it is another program's */
export const openRequestFile = (file: string, perTeamMax: number, log: Log): LocalFile<RequestRows> =>
  openLocalFile({
    ...{ file, applicationId, version: 1, schema, log },
    rowsOf: (database) => createRequestRows(database, perTeamMax),
  });
