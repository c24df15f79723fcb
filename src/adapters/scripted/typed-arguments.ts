import type { ModelTool } from '../../core/conversation/model-message.ts';

/**
 * Converts arguments to numbers if the tool's schema demands numbers. A group of a pattern is always text, so the tool
 * would refuse `"a": "$1"`.
 */
export function typedArguments(
  values: Readonly<Record<string, unknown>>,
  tool: ModelTool | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      isNumeric(value) && wantsNumber(tool, key) ? Number(value) : value,
    ]),
  );
}

function isNumeric(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
}

function wantsNumber(tool: ModelTool | undefined, key: string): boolean {
  const properties = tool?.inputSchema.properties;
  if (typeof properties !== 'object' || properties === null) return false;
  const property: unknown = Reflect.get(properties, key);
  if (typeof property !== 'object' || property === null || !('type' in property)) return false;
  return property.type === 'number' || property.type === 'integer';
}
