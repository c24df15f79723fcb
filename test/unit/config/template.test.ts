// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts under test hold references
import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../src/config/problems/path.ts';
import { expandVariables } from '../../../src/config/reading/expand.ts';
import { escapeTemplate } from '../../../src/config/reading/template.ts';

const environment = { NAME: 'Ada', EMPTY: '', PRICE: '$NAME', _x1: 'under' };

function expand(text: string): unknown {
  const { value, failures } = expandVariables({ text }, environment);
  expect(failures).toEqual([]);
  return valueAt(value, ['text']);
}

function failuresOf(text: string): string[] {
  return expandVariables({ text }, environment).failures.map((failure) => failure.text);
}

describe('references in an agent file', () => {
  it.each([
    ['$NAME', 'Ada'],
    ['${NAME}', 'Ada'],
    ['hello $NAME, $NAME!', 'hello Ada, Ada!'],
    ['$_x1', 'under'],
    ['${NAME}son', 'Adason'],
    ['${MISSING:-a default}', 'a default'],
    ['${MISSING:-}', ''],
    ['${NAME:-a default}', 'Ada'],
    ['${MISSING:-x-${NAME}-y}', 'x-Ada-y'],
    ['${MISSING:-${ALSO_MISSING:-deep}}', 'deep'],
    ['$$NAME', '$NAME'],
    ['$$', '$'],
    ['$$$NAME', '$Ada'],
  ])('expands %s to %s', (written, expected) => {
    expect(expand(written)).toBe(expected);
  });

  it.each(['$5', 'costs $ 5', 'the end$', '^foo$', '$1 and $2', '${5}', 'a $(b)', '$-'])(
    'leaves %s as it is, for it names nothing',
    (text) => {
      expect(expand(text)).toBe(text);
    },
  );

  it('counts an empty variable as unset only where there is a default', () => {
    expect(expand('[$EMPTY]')).toBe('[]');
    expect(expand('${EMPTY:-default}')).toBe('default');
  });

  it('does not expand what a variable holds', () => {
    expect(expand('$PRICE')).toBe('$NAME');
  });

  it('reports each variable that is not set', () => {
    expect(failuresOf('$ONE and ${TWO}')).toEqual([
      'the variable ONE is not set; set it, or write ${ONE:-default}',
      'the variable TWO is not set; set it, or write ${TWO:-default}',
    ]);
  });

  it('does not suggest to write a key into the file', () => {
    expect(failuresOf('$OPENAI_API_KEY')).toEqual([
      'the variable OPENAI_API_KEY is not set; expected it in the environment',
    ]);
  });

  it.each(['${NAME', '${NAME-x}', '${NAME:x}', '${NAME }'])('reports the broken reference %s', (text) => {
    expect(failuresOf(text)[0]).toContain('found a broken reference');
  });

  it('expands inside lists and maps, but not in keys', () => {
    const raw = { $NAME: [{ deep: '$NAME' }, 5, null, true] };
    expect(expandVariables(raw, environment).value).toEqual({ $NAME: [{ deep: 'Ada' }, 5, null, true] });
  });

  it.each(['$NAME', 'a$$b', '${X:-y}', '$', 'plain'])(
    'reads %s back as it is when it was escaped',
    (text) => {
      expect(expand(escapeTemplate(text))).toBe(text);
    },
  );
});
