import { createContext } from 'react';

/** Whether more of the text around is still to come. */
export const IsGrowing = createContext(false);
