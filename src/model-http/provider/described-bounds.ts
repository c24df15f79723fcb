import { isJsonObject } from '../../core/json-object.ts';
import { MAX_NOTE_CHARACTERS, mapSchemas, oncePerSchema, type Schema, withNote } from './nested-schemas.ts';
import { isPortable } from './portable-patterns.ts';

const BOUNDS = ['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'];

/**
 * The schema of a tool or a reply, with patterns and bounds in its descriptions. For a single one of them these refuse each
 * request:
 *
 * - llama.cpp, also in LM Studio and Ollama, where it cannot make a grammar of them: of a pattern without `^` and `$`, of a
 *   large bound. https://github.com/ggml-org/llama.cpp/issues/26930, https://github.com/firecrawl/firecrawl/issues/4512
 * - DeepSeek, where a pattern is no regular expression of its own kind: https://github.com/zed-industries/zed/issues/64386
 */
export const withDescribedBounds = oncePerSchema((schema) =>
  mapSchemas(schema, (one) => described(one, BOUNDS)),
);

/** The schema of a tool or a reply, with the patterns in its descriptions that not every provider can read. */
export const withPortablePatterns = oncePerSchema((schema) => mapSchemas(schema, portable));

function portable(schema: Schema): Schema {
  const { pattern, patternProperties } = schema;
  const named = isJsonObject(patternProperties) ? withPortableNames(schema, patternProperties) : schema;
  return typeof pattern === 'string' && !isPortable(pattern) ? described(named, ['pattern']) : named;
}

function withPortableNames(schema: Schema, patternProperties: Schema): Schema {
  const kept = Object.entries(patternProperties).filter(([pattern]) => isPortable(pattern));
  if (kept.length === Object.keys(patternProperties).length) return schema;
  return { ...schema, patternProperties: Object.fromEntries(kept) };
}

/** @param keywords that stand in the description instead. */
function described(schema: Schema, keywords: readonly string[]): Schema {
  const kept = Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword));
  if (kept.length === Object.keys(schema).length) return schema;
  const told = keywords
    .filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => `${keyword} ${schema[keyword]}`)
    .filter(({ length }) => length <= MAX_NOTE_CHARACTERS);
  const others = Object.fromEntries(kept);
  return told.length === 0 ? others : withNote(others, `It has: ${told.join(', ')}.`);
}
