"""Projects: what `rankproof.yaml` says, checked, and what can be had from it."""

from rankproof.project.faults import BadProject as BadProject
from rankproof.project.metrics import MetricsConfig as MetricsConfig
from rankproof.project.metrics import read_metrics_config as read_metrics_config
from rankproof.project.project import Project as Project
from rankproof.project.project import load_project as load_project
