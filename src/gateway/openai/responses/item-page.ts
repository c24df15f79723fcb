import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import { MEGABYTE } from '../../../core/size-limits.ts';
import { WholeNumber } from '../../../wire/requests.ts';

/** A page ends with the item that goes beyond this. To write hundreds of megabytes at once holds up everybody for seconds. */
const MAX_CHARACTERS = 8 * MEGABYTE;

export const ItemsQuery = z.object({
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: WholeNumber.pipe(z.int().min(1).max(100)).default(20),
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('The id of the item before the first one.'),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

export function itemListOf<I extends z.ZodType>(item: I) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

interface ItemPage<I> {
  readonly object: 'list';
  readonly data: I[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

interface PageSize extends Pick<ItemsQuery, 'limit' | 'after'> {
  readonly maxCharacters?: number;
}

/**
 * A page of items: as many as are wanted, or fewer if they are large. They are read only as far as the page needs. Throws if no
 * item has the id `after`.
 */
export async function itemPage<I extends { readonly id: string }>(
  items: AsyncIterable<I> | Iterable<I>,
  { limit, after, maxCharacters = MAX_CHARACTERS }: PageSize,
): Promise<ItemPage<I>> {
  const data: I[] = [];
  let characters = 0;
  let hasBegun = after === undefined;
  let hasMore = false;
  for await (const item of items) {
    if (!hasBegun) hasBegun = item.id === after;
    else if (data.length < limit && characters < maxCharacters) {
      data.push(item);
      characters += JSON.stringify(item).length;
    } else {
      hasMore = true;
      break;
    }
  }
  if (!hasBegun) throw noSuchItem(after);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

function noSuchItem(id: string | undefined): ServiceError {
  return new ServiceError('INVALID_REQUEST', `There is no item ${id} in this list.`, {
    field: 'after',
    issue: 'no item of the list has this id',
  });
}
