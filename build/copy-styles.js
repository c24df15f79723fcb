// tsc builds what is TypeScript; the server also reads a style sheet that stands beside its code.
import { cpSync } from 'node:fs';

const file = 'src/gateway/documents/docs.css';
cpSync(file, `dist/${file}`);
