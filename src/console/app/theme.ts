import { useEffect, useState } from 'react';
import { ofBrowser } from '../service/storage.ts';

export type Theme = 'light' | 'dark';
const KEY = 'agent-service.theme';

/** The theme of the system, until the user chooses one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => stored() ?? preferred());
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = theme === 'light' ? 'dark' : 'light';
    ofBrowser.set(KEY, next);
    setTheme(next);
  };
  return [theme, toggle];
}

function stored(): Theme | undefined {
  const value = ofBrowser.get(KEY);
  return value === 'light' || value === 'dark' ? value : undefined;
}

function preferred(): Theme {
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
