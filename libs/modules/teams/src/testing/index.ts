export {
  appendTeamEvents,
  givenTeam,
  keyIssued,
  keyText,
  originsAllowed,
  readAudit,
  testTeamKeys,
  testVerifier,
} from './teams.ts';
