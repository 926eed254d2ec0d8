"""Retrieval Quality (RQ) of a story: how well labelled queries find its scenes."""

from rankproof.data.formats.cnl import Scene as Scene
from rankproof.data.formats.cnl import World as World
from rankproof.data.formats.cnl import parse_cnl as parse_cnl
from rankproof.story.files import read_queries as read_queries
from rankproof.story.files import read_story as read_story
from rankproof.story.quality import THRESHOLD as THRESHOLD
from rankproof.story.quality import Found as Found
from rankproof.story.quality import Quality as Quality
from rankproof.story.quality import compare_profiles as compare_profiles
from rankproof.story.quality import retrieval_quality as retrieval_quality
