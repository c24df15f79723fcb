/**
 * @param input entry files by the names of their bundles.
 * @param outDir is emptied first.
 * @param more `external`: packages that stay outside of the bundles.
 */
export function bundleServer(
  input: Readonly<Record<string, string>>,
  outDir: string,
  more?: { readonly external?: readonly string[] },
): Promise<void>;
