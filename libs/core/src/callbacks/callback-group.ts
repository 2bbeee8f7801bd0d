/** Under which the processes of the command service share out the callbacks. */
export const callbackGroup = 'command-service';
