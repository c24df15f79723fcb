import { describe, expect, it } from 'vitest';
import { inOrder } from '../../support/project/file-order.ts';

const projectOf = (file: string): string => file.split(' ', 1)[0] ?? '';

describe('the order of the test files', () => {
  it('puts those that compute among those that wait, and the short ones last', () => {
    const cluster = ['cluster 1', 'cluster 2', 'cluster 3', 'cluster 4', 'cluster 5'];
    const files = [
      'adapters 1',
      'browser 1',
      ...cluster,
      'e2e 1',
      'e2e 2',
      'simulation 1',
      'simulation 2',
      'unit 1',
    ];
    expect(inOrder(files, projectOf)).toEqual([
      ...['simulation 1', 'cluster 1', 'cluster 2', 'cluster 3', 'simulation 2', 'cluster 4', 'cluster 5'],
      ...['browser 1', 'e2e 1', 'e2e 2', 'adapters 1', 'unit 1'],
    ]);
  });

  it('leaves out no file, whatever project it is of', () => {
    expect(inOrder(['unit 1', 'new 1'], projectOf)).toEqual(['new 1', 'unit 1']);
    expect(inOrder(['simulation 1', 'simulation 2'], projectOf)).toEqual(['simulation 1', 'simulation 2']);
    expect(inOrder(['cluster 1'], projectOf)).toEqual(['cluster 1']);
  });
});
