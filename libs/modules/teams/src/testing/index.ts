export {
  appendTeamEvents,
  givenTeam,
  keyIssued,
  keyText,
  originsAllowed,
  testTeamKeys,
  testVerifier,
} from './teams.ts';
