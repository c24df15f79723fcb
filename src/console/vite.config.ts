import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressedFiles } from './compressed-files.ts';

/**
 * Builds the console into dist/console. `npm run console` serves it for development and needs a service on port 3001.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), compressedFiles()],
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    license: { fileName: 'third-party-licenses.md' },
    target: 'es2022',
    // One style sheet: the page does not load the style sheet of a panel again after that failed once.
    cssCodeSplit: false,
    // compressed-files.ts compresses the files.
    reportCompressedSize: false,
    // Inlined assets are data URLs, which the Content-Security-Policy would have to allow.
    assetsInlineLimit: 0,
    // The largest chunks, statecharts and forms, are loaded only when their panel is opened.
    chunkSizeWarningLimit: 2_000,
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:3001',
      '/metrics': 'http://127.0.0.1:3001',
    },
  },
});
