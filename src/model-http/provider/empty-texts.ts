/**
 * What stands for a message of the user or a result of a tool that is empty. Claude refuses the first, and GLM and MiniMax
 * refuse both: https://github.com/earendil-works/pi/pull/3309
 */
export const NO_TEXT = '[empty message]';
export const NO_OUTPUT = '(no output)';
