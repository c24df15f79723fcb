import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressedFiles } from './compressed-files.ts';

/** Builds the page into dist/console; `npm run console` serves it with a running service behind it. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), compressedFiles()],
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    license: { fileName: 'third-party-licenses.md' },
    target: 'es2022',
    // compressed-files.ts does it.
    reportCompressedSize: false,
    // Data URLs would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // Statecharts and forms are loaded when their panel is opened.
    chunkSizeWarningLimit: 2_000,
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:3001',
      '/metrics': 'http://127.0.0.1:3001',
    },
  },
});
