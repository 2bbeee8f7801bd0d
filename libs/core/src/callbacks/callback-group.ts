/** The consumer group of the command service. */
export const callbackGroup = 'command-service';
