import { MAX_NOTE_CHARACTERS, mapSchemas, oncePerSchema, type Schema, withNote } from './nested-schemas.ts';

const BOUNDS = ['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'];

/**
 * The schema of a tool or a reply, with patterns and bounds in its descriptions. For a single one of them these refuse each
 * request:
 *
 * - llama.cpp, also in LM Studio and Ollama, where it cannot make a grammar of them: of a pattern without `^` and `$`, of a
 *   large bound. https://github.com/ggml-org/llama.cpp/issues/26930, https://github.com/firecrawl/firecrawl/issues/4512
 * - DeepSeek, where a pattern is no regular expression of its own kind: https://github.com/zed-industries/zed/issues/64386
 */
export const withDescribedBounds = oncePerSchema((schema) => mapSchemas(schema, described));

function described(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([keyword]) => !BOUNDS.includes(keyword));
  if (kept.length === Object.keys(schema).length) return schema;
  const told = BOUNDS.filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => `${keyword} ${schema[keyword]}`)
    .filter(({ length }) => length <= MAX_NOTE_CHARACTERS);
  const others = Object.fromEntries(kept);
  return told.length === 0 ? others : withNote(others, `It has: ${told.join(', ')}.`);
}
